// shell.js - commands for a shell. Pure.

function inQuotes(text) {
  return "'" + text.replace(/'/g, "'\\''") + "'";
}

// A name as basic regular expression. What the picture shows escaped is other bytes in the file.
function pattern(name) {
  return name.replace(/[\\.*[\]^$]/g, '\\$&').replace(/\\\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})/g, '.*');
}

// From the outermost frame, or '' in a view whose paths are not those of the file.
function pathOf(view, frame) {
  const { tree: { name, caller }, profile: { names } } = view, path = [];
  if (view.operations.some(one => !['widest', 'only', 'without'].includes(one.kind))) return '';
  for (let at = frame; at > 0; at = caller[at]) path.unshift(pattern(names.folded(name[at])));
  return path.join(';');
}

/** The command that prints the folded stacks of a frame; in a changed view, those with its function. */
export function stacksCommand(view, frame, file) {
  const path = pathOf(view, frame), { names } = view.profile, id = view.tree.name[frame];
  const wanted = path ? '^' + path + '[; ]' : '\\(^\\|;\\)' + pattern(names.folded(id)) + '[; ]';
  const operand = file.startsWith('-') ? './' + file : file;
  return 'pjsvg --unpack ' + inQuotes(operand) + ' | grep ' + inQuotes(wanted);
}
