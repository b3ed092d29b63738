// dom.js - elements of the page. Names come from strangers: they become text nodes, nothing else.

const PREFIX = 'pj-';

export function setAttributes(element, attributes) {
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  return element;
}

function makeElement(space, tag, attributes, children) {
  const element = document.createElementNS('http://www.w3.org/' + space, tag);
  element.append(...children);
  return setAttributes(element, attributes);
}

export function html(tag, attributes, ...children) {
  return makeElement('1999/xhtml', tag, attributes, children);
}

export function drawn(tag, attributes, ...children) {
  return makeElement('2000/svg', tag, attributes, children);
}

export function division(name, ...children) {
  return html('div', { class: PREFIX + name }, ...children);
}

export function span(name, ...children) {
  return html('span', { class: PREFIX + name }, ...children);
}

/** A button: `label` is its tooltip and its name for screen readers. */
export function button(name, label, act, ...children) {
  const attributes = { type: 'button', class: PREFIX + name, 'aria-label': label, title: label };
  const element = html('button', attributes, ...children);
  element.onclick = act;
  return element;
}

export function setPressed(element, pressed) {
  setAttributes(element, { 'aria-pressed': Boolean(pressed) });
}

export function refill(element, ...children) {
  element.replaceChildren(...children);
}

export function tracePath(element, parts) {
  setAttributes(element, { d: parts.join('') });
}
