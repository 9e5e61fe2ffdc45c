// Requests for a dry run: `?dry_run=true`, or the preference `validate-only` (RFC 7240, section 2). A route that writes and
// has no dry run rejects them, because a client that asks for a check must not change anything.
import type { IncomingHttpHeaders } from 'node:http'
import { invalidInput } from '#lib/errors.ts'

const PREFERENCE = 'validate-only'

type Asking = { query: unknown; headers: IncomingHttpHeaders }

/** Whether the header `Prefer` asks for a dry run. */
export function prefersDryRun({ headers }: Pick<Asking, 'headers'>): boolean {
  const preferences = [headers['prefer'] ?? []].flat().flatMap((value) => value.split(','))
  return preferences.some((preference) => preference.split(';', 1)[0]?.trim().toLowerCase() === PREFERENCE)
}

/** Whether a request asks for a dry run. The query is either validated or as it was sent. */
export function isDryRun(req: Asking): boolean {
  const { dry_run: value } = req.query as { dry_run?: boolean | string }
  return (value !== undefined && value !== false && value !== 'false') || prefersDryRun(req)
}

/** @throws ApiError `invalid_input` naming `dry_run` if the request asks for a dry run. */
export async function rejectDryRun(req: Asking): Promise<void> {
  if (isDryRun(req)) throw invalidInput('This request has no dry run. Nothing was changed', 'dry_run')
}

/** The header of a response to a request with the preference. */
export const APPLIED = { 'preference-applied': PREFERENCE } as const
