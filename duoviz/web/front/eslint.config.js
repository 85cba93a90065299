// What the page's scripts are held to; `npm run format` mends what can be mended.

import js from "@eslint/js";
import stylistic from "@stylistic/eslint-plugin";
import globals from "globals";

export default [
  js.configs.recommended,
  stylistic.configs.customize({ quotes: "double", semi: true, braceStyle: "1tbs", arrowParens: true }),
  {
    languageOptions: { globals: globals.browser },
    rules: {
      "@stylistic/quotes": ["error", "double", { avoidEscape: true, allowTemplateLiterals: "always" }],
      "no-shadow": "error",
      "no-unused-vars": "error",
      "@stylistic/max-len": ["error", { code: 120, ignoreStrings: true, ignoreTemplateLiterals: true }],
      "@stylistic/max-statements-per-line": "off",
      "@stylistic/multiline-ternary": "off",
      "@stylistic/list-style": "off",
      "@stylistic/operator-linebreak": "off",
      "@stylistic/quote-props": "off",
      "@stylistic/indent-binary-ops": "off",
    },
  },
  { files: ["*.js", "**/*.test.js", "testing.js"], languageOptions: { globals: globals.node } },
];
