// Content codings of cached compressed responses (RFC 9110, 12.5.3).

/** Supported codings, with the smallest results first. */
export const CODINGS = ['br', 'gzip'] as const
export type Coding = (typeof CODINGS)[number]

const ACCEPTED: Readonly<Record<Coding, RegExp>> = {
  br: /\bbr\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/,
  gzip: /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/,
}

/** Whether the client accepts a coding. */
export function acceptsCoding(acceptEncoding: string | string[] | undefined, coding: Coding): boolean {
  return acceptEncoding !== undefined && ACCEPTED[coding].test(String(acceptEncoding))
}

/** Returns the best coding that the client accepts; undefined if it accepts none. */
export function codingFor(acceptEncoding: string | string[] | undefined): Coding | undefined {
  return CODINGS.find((coding) => acceptsCoding(acceptEncoding, coding))
}

/** Returns the ETag of a compressed form, which needs its own strong ETag (RFC 9110, 8.8.3.3). */
export function codedTag(etag: string, coding: Coding): string {
  return `${etag.slice(0, -1)}-${coding}"`
}
