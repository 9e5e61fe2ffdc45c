import { forbidden } from '#lib/errors.ts'

/** Only the person who was asked may answer. @throws ApiError 403. */
export function requireAskedAccount(accountId: string, request: { account_id: string }): void {
  if (request.account_id !== accountId) throw forbidden('This asks for the consent of another account')
}
