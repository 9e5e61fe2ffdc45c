// The package has no types.
declare module 'anafanafo' {
  /** Returns the width of a text in pixels. Guesses the width of characters that its table does not have. */
  function measure(text: string, options: { font: '11px Verdana' }): number
  export = measure
}
