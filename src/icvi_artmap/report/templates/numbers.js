"use strict";
// Numbers are written as in icvi_artmap._support.wording.

const withMinus = (text) => text.replaceAll("-", "−");
const fixed = (v, places) =>
  withMinus((v === 0 ? 0 : v).toLocaleString("en", { minimumFractionDigits: places, maximumFractionDigits: places }));
const withoutZeros = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
const general = (v, digits) => {
  const [mantissa, exponent] = v.toExponential(digits - 1).split("e");
  const power = Number(exponent);
  if (power >= -4 && power < digits)
    return withMinus(v.toLocaleString("en", { maximumSignificantDigits: digits }));
  const sign = power < 0 ? "-" : "+";
  return withMinus(`${withoutZeros(mantissa)}e${sign}${String(Math.abs(power)).padStart(2, "0")}`);
};
const number = (v, digits) => {
  if (Number.isInteger(v) && Math.abs(v) < 1e15) return fixed(v, 0);
  if (Math.abs(v) >= 10 ** (digits - 1) && Math.abs(v) < 1e7) return fixed(v, 1);
  return general(v, digits);
};
