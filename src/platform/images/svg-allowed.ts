// Elements and attributes that a sanitised SVG can contain. Excludes scripts, event handlers, foreign markup, embedded
// images, links and animations. Names are case-sensitive, as in XML.

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

export const ELEMENTS = words(`
  svg g defs symbol use title desc path rect circle ellipse line polyline polygon text tspan linearGradient radialGradient
  stop clipPath mask pattern marker style filter feBlend feColorMatrix feComponentTransfer feComposite feDropShadow feFlood
  feFuncA feFuncB feFuncG feFuncR feGaussianBlur feMerge feMergeNode feOffset`)

/** Elements whose text is shown or used. Text in other elements is removed. */
export const TEXT_ELEMENTS = words('title desc text tspan style')

export const ATTRIBUTES = words(`
  alignment-baseline amplitude baseline-shift class clip-path clip-rule clipPathUnits color color-interpolation
  color-interpolation-filters cx cy d direction display dominant-baseline dx dy exponent fill fill-opacity fill-rule filter
  filterUnits flood-color flood-opacity font-family font-size font-stretch font-style font-variant font-weight fr fx fy
  gradientTransform gradientUnits height href id in in2 intercept k1 k2 k3 k4 lengthAdjust letter-spacing marker-end
  marker-mid marker-start markerHeight markerUnits markerWidth mask mask-type maskContentUnits maskUnits mode offset opacity
  operator orient overflow paint-order pathLength patternContentUnits patternTransform patternUnits points
  preserveAspectRatio primitiveUnits r refX refY result role rotate rx ry shape-rendering slope spreadMethod stdDeviation
  stop-color stop-opacity stroke stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit
  stroke-opacity stroke-width style tableValues text-anchor text-decoration text-rendering textLength transform
  transform-origin type values vector-effect version viewBox visibility width word-spacing writing-mode x x1 x2 y y1 y2`)
