// Operator routes of outgoing email.
import { operatorOf } from '#features/basics/audit/actor.ts'
import type { DeliveryDeps } from '#features/basics/mail/deliver-mail.ts'
import { invalidInput } from '#lib/errors.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { loadMail } from './queries.ts'
import { readMail } from './read-mail.ts'
import { DeliveryParams, MailQuery } from './requests.ts'
import { sendTestMail } from './send-test-mail.ts'
import { MailView, TestResultView, WrittenMailView } from './views.ts'

export function mailRoutes(app: App, deps: DeliveryDeps & Pick<Deps, 'cache' | 'config'>): void {
  app.get('/admin/mail', {
    config: { auth: 'operator' },
    schema: {
      operationId: 'getOutgoingMail',
      summary: 'Get the queued, sent and rejected emails',
      description: 'To send rejected emails again, retry their jobs.',
      querystring: MailQuery,
      response: { 200: MailView },
    },
    handler: async (req) => {
      const { sent: isSent, written: isWritten, before, limit = 50 } = req.query
      return loadMail(deps, { isSent, isWritten, before, limit })
    },
  })
  app.get('/admin/mail/:id', {
    config: { auth: 'operator', errors: ['404 not_found'] },
    schema: {
      operationId: 'getWrittenMail',
      summary: 'Read an email that an instance without a mail server wrote to a file',
      description: 'The audit log records each reading, because emails contain links that act for their recipient.',
      params: DeliveryParams,
      response: { 200: WrittenMailView },
    },
    handler: (req) => readMail(deps, operatorOf(req), req.params.id),
  })
  app.post('/admin/mail/test', {
    config: { auth: 'operator', cost: COSTS.password },
    schema: {
      operationId: 'sendTestMail',
      summary: "Send an email to the caller's own address",
      description: 'Requires the session of an admin, because the admin key has no email address.',
      response: { 200: TestResultView },
    },
    handler: async (req) => {
      if (req.viewer === null) throw invalidInput('The admin key has no email address; use the session of an admin')
      return sendTestMail(deps, req.viewer)
    },
  })
}
