// shell.js - commands for a shell. Pure.

function inQuotes(text) {
  return "'" + text.replace(/'/g, "'\\''") + "'";
}

// A name as basic regular expression. What the picture shows escaped is other bytes in the file.
function pattern(name) {
  return name.replace(/[\\.*[\]^$]/g, '\\$&').replace(/\\\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})/g, '.*');
}

// The expression for the stacks of a frame, or '' in a view whose paths are not those of the file. pjsvg --unpack turns
// reversed stacks back: there the frame's path is the end of its stacks.
function expressionOf(view, frame) {
  const { tree: { name, caller }, profile: { names, config } } = view, path = [];
  if (!frame || view.operations.some(one => !['widest', 'only', 'without'].includes(one.kind))) return '';
  for (let at = frame; at > 0; at = caller[at]) path.push(pattern(names.folded(name[at])));
  return config.reverse ? '\\(^\\|;\\)' + path.join(';') + ' [0-9 ]*$' : '^' + path.reverse().join(';') + '[; ]';
}

/** The command that prints the folded stacks of a frame; in a changed view, those with its function. */
export function stacksCommand(view, frame, file) {
  const { names } = view.profile, id = view.tree.name[frame];
  const wanted = expressionOf(view, frame) || '\\(^\\|;\\)' + pattern(names.folded(id)) + '[; ]';
  const operand = file.startsWith('-') ? './' + file : file;
  return 'pjsvg --unpack ' + inQuotes(operand) + ' | grep ' + inQuotes(wanted);
}
