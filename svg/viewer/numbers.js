// numbers.js - numbers as people read them. Pure.

/** 1234567.891 -> "1,234,567.89" */
export function grouped(value) {
  return String(Number(value.toFixed(2))).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

/** A number with its sign; the minus is the typographic one. */
export function signed(value, decimals) {
  return (value < 0 ? '\u2212' : '+') + Math.abs(value).toFixed(decimals);
}

/** "1 sample", "2 samples": units that take no plural s keep their form. */
export function counted(value, noun) {
  const text = grouped(value);
  return text + ' ' + (text === '1' ? noun.replace(/([a-z]{2}[a-rt-z])s$/i, '$1') : noun);
}

export function percent(part, total) {
  const value = 100 * part / total || 0;
  if (value === 0 || value === 100) return value + '%';
  return (value < .005 ? '<0.01' : value.toFixed(value < 1 ? 2 : 1)) + '%';
}

/** The parts that are not empty, with dots between them. */
export function listed(parts) {
  return parts.filter(part => part).join(' \u00b7 ');
}

function scaleOf(unit) {
  const times = ['ns', '\u00b5s', 'ms', 's'], first = ['ns', 'us', 'ms'].indexOf(unit);
  if (unit === 'bytes') return { step: 1024, units: ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] };
  return { step: 1000, units: first < 0 ? [] : times.slice(first) };
}

/** Writes weights in the unit of a picture: bytes and times are scaled, all else is counted. */
export class Weights {
  constructor({ unit, factor }) {
    this.unit = unit || 'samples';
    this.factor = factor;
    this.scale = scaleOf(unit);
  }

  /** The number, with a unit only if it is scaled. */
  amount(weight) {
    const { step, units } = this.scale;
    let value = weight * this.factor, index = 0;
    if (!units.length) return grouped(value);
    for (; units[index + 1] && Math.abs(value) >= step; index++) value /= step;
    return counted(value, units[index]);
  }

  /** The number with its unit. */
  text(weight) {
    return this.scale.units.length ? this.amount(weight) : counted(weight * this.factor, this.unit);
  }

  share(weight, total) {
    return this.amount(weight) + ' (' + percent(weight, total) + ')';
  }
}
