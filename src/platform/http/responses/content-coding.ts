// Which content coding an answer that is kept compressed goes out in (RFC 9110, 12.5.3).

/** The codings in which answers are kept, the smallest first. */
export const CODINGS = ['br', 'gzip'] as const
export type Coding = (typeof CODINGS)[number]

const ACCEPTED: Readonly<Record<Coding, RegExp>> = {
  br: /\bbr\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/,
  gzip: /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/,
}

/** The smallest coding that a client takes; undefined where it takes none of them. */
export function codingFor(acceptEncoding: string | string[] | undefined): Coding | undefined {
  if (acceptEncoding === undefined) return undefined
  const accepted = String(acceptEncoding)
  return CODINGS.find((coding) => ACCEPTED[coding].test(accepted))
}

/** A strong tag names bytes: those of a coding have one of their own (RFC 9110, 8.8.3.3). */
export function codedTag(etag: string, coding: Coding): string {
  return `${etag.slice(0, -1)}-${coding}"`
}
