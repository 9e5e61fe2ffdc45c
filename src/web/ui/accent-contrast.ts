// The contrast of the colours that an accent hue determines, by the formulas of the style sheet (`--brand`).

type Oklch = { lightness: number; chroma: number; hue: number }

/** Returns the smaller of the contrasts of links on the sheet and of text on buttons, in the light and the dark theme. */
export function accentContrast(hue: number): { light: number; dark: number } {
  const sheet = { light: 0.97, dark: 0.2 }
  const of = (brand: Oklch, ink: Oklch, background: number): number =>
    Math.min(contrast(brand, ink), contrast(brand, { lightness: background, chroma: 0, hue }))
  return {
    light: of({ lightness: 0.45, chroma: 0.088, hue }, { lightness: 0.99, chroma: 0.01, hue }, sheet.light),
    dark: of({ lightness: 0.8, chroma: 0.112, hue }, { lightness: 0.2, chroma: 0.04, hue }, sheet.dark),
  }
}

/** Returns the contrast of two colours by WCAG 2. */
function contrast(one: Oklch, other: Oklch): number {
  const [lower = 0, higher = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (higher + 0.05) / (lower + 0.05)
}

function luminance({ lightness, chroma, hue }: Oklch): number {
  const radians = (hue * Math.PI) / 180
  const [a, b] = [chroma * Math.cos(radians), chroma * Math.sin(radians)]
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
  const within = (value: number): number => Math.min(1, Math.max(0, value))
  const red = within(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s)
  const green = within(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s)
  const blue = within(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s)
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
