// forms.js - ever shorter forms of a name, for labels. Pure.

/** C++ and Rust without template arguments, parameters and return type. */
function withoutArguments(name) {
  let text = name, before;
  do {
    before = text;
    text = text.replace(/(?<!operator ?)(<[^<>]*>|\([^()]*\))|(?<=::)::/g, '');
  } while (text !== before);
  return text.replace(/ const$/, '').replace(/^.*(?<!operator) /, '');
}

function qualifiedForms(name) {
  const forms = [name];
  for (let rest = withoutArguments(name); rest; rest = rest.split('::').slice(1).join('::')) forms.push(rest);
  return forms;
}

const JAVA = /^L?((?:[\w$-]+[/.])*)([\w$]+)(;?[.:#]+)([\w$<>]+)(\(.*)?$/;
const GO = /^\w\S*\/(\w+\.(.*?(\w+)))$/;
const PLACED = /^([^\s:/]+):(?!\d+:)[^:/]+:\d+$/; // a.B.f:b.py:12, of pjfold --srcline
const FILE = /^\S*\/([^\s/]+)$/;
const BUILTIN = /^Builtins_(.+)$/; // of V8

function javaForms(name, [, packages, owner, separator, method]) {
  const initials = packages.replace(/([\w$-])[\w$-]*[/.]/g, '$1.'), own = owner + separator + method;
  return [name, initials + own, own, method];
}

/** module.Class.method of Python, without its first parts: the last one is the function. */
function pythonForms(name) {
  const parts = name.split('.'), forms = [name];
  for (let first = 1; first < parts.length; first++)
    if (parts[first] !== '<locals>') forms.push(parts.slice(first).join('.'));
  return forms;
}

/** From the full name to the function alone. kind: the label of the kind of code. */
export function shorterForms(name, kind) {
  // a process has no path and no packages, whatever its name looks like; the forms of a long name may take megabytes
  if (kind === 'process' || name.length > 2000) return [name];
  const placed = PLACED.exec(name);
  if (placed) return [name, ...shorterForms(placed[1], kind)];
  if (kind === 'Python' && !/[\s/(]/.test(name)) return pythonForms(name);
  if (name.includes('::') && !name.includes(';::')) return qualifiedForms(name);
  const java = /\/|(^|\.)[A-Z]/.test(name) && JAVA.exec(name);
  if (java) return javaForms(name, java);
  const other = GO.exec(name) || FILE.exec(name) || BUILTIN.exec(name);
  return [name, ...other ? other.slice(1) : []];
}
