import { notFound } from '#lib/errors.ts'

/** Only the person who was asked may answer; to others the flow is as good as absent. @throws ApiError 404. */
export function requireRequestedAccount(accountId: string, request: { account_id: string }): void {
  if (request.account_id !== accountId) throw notFound('flow')
}
