// eslint.config.js - what the viewer's modules must keep: npx eslint svg/viewer.
// test/svg/modules.t runs it where eslint is installed.
const page = [
  'document', 'window', 'location', 'history', 'navigator', 'localStorage', 'matchMedia', 'open', 'addEventListener',
  'innerHeight', 'innerWidth', 'ResizeObserver', 'setTimeout', 'clearTimeout', 'requestAnimationFrame',
  'cancelAnimationFrame', 'Blob', 'URL', 'self', 'top', 'origin',
  'XMLSerializer', 'getComputedStyle',
];
const everywhere = ['TextEncoder', 'URLSearchParams'];
const globals = Object.fromEntries([...page, ...everywhere].map(name => [name, 'readonly']));

export default [{
  files: ['**/*.js'],
  languageOptions: { ecmaVersion: 2022, sourceType: 'module', globals },
  rules: {
    'complexity': ['error', 12],
    'consistent-return': 'error',
    'eqeqeq': 'error',
    'id-length': ['error', { min: 2, properties: 'never' }],
    'max-depth': ['error', 3],
    'max-len': ['error', { code: 120 }],
    'max-lines': ['error', 300],
    'max-lines-per-function': ['error', 45],
    'max-params': ['error', 5],
    'max-statements-per-line': ['error', { max: 1 }],
    'no-eval': 'error',
    'no-new-func': 'error',
    'no-sequences': 'error',
    'no-shadow': 'error',
    'no-undef': 'error',
    'no-unused-vars': 'error',
    'no-var': 'error',
    'one-var-declaration-per-line': 'off',
    'semi': 'error', // strip.awk leaves line ends out
    'prefer-const': ['error', { destructuring: 'all' }],
  },
}];
