// Routes to report leaked tokens, for anyone who has found one and for a code host that scans for them.
import Type from 'typebox'
import { ApiError } from '#lib/errors.ts'
import { leaveBodiesUnparsed, readRawBody } from '#platform/http/bodies/raw-body.ts'
import { mountInternal, openScope } from '#platform/http/mounts.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { createReportKeys, type ReportKeys } from './report-keys.ts'
import { LeakedToken, LeakReports, parseReports, REPORTS_MAX } from './requests.ts'
import { type LeakDeps, revokeLeakedToken } from './revoke-leaked-token.ts'
import { ReportOutcome } from './views.ts'

const REPORT_BYTES_MAX = 256 * 1024

export function leakedTokenRoutes(app: App, deps: LeakDeps & Pick<Deps, 'config' | 'now'>): void {
  app.post('/v3/leaked-token', {
    config: { auth: 'public', cost: COSTS.password, withoutPage: 'For programs that have a token' },
    schema: {
      operationId: 'revokeLeakedToken',
      summary: 'Revoke a token that was found in public',
      description:
        'Revokes a token of any kind and notifies its owner by email. Returns 204 for every text, so that the response does not tell whether the token worked.',
      body: LeakedToken,
    },
    handler: async (req) => {
      const actor = { kind: 'anonymous', address: req.clientAddress } as const
      await revokeLeakedToken(deps, req.body.token.trim(), { actor })
    },
  })
  const { leakReportKeysUrl } = deps.config.accounts
  const keys = leakReportKeysUrl === undefined ? undefined : createReportKeys(leakReportKeysUrl, deps.now)
  mountInternal(app, (scope) => reportRoute(scope, deps, keys))
}

function reportRoute(app: App, deps: LeakDeps, keys: ReportKeys | undefined): void {
  openScope(app, (scope) => {
    leaveBodiesUnparsed(scope)
    scope.post('/leaked-tokens', {
      config: {
        auth: 'public',
        cost: COSTS.password,
        rawBody: LeakReports,
        errors: ['401 unauthorized', '404 not_found', '424 auth_error'],
        withoutPage: 'For programs that have a token',
      },
      schema: {
        operationId: 'reportLeakedTokens',
        summary: 'Revoke tokens that a code host has found',
        description: `For the code host whose keys the operator has configured (\`LEAK_REPORT_KEYS_URL\`); otherwise 404. The body is a JSON array of at most ${REPORTS_MAX} objects with \`token\`, \`type\` and \`url\`, signed in the headers \`Github-Public-Key-Identifier\` and \`Github-Public-Key-Signature\` (ECDSA P-256 with SHA-256 over the body).`,
        consumes: ['application/json'],
        response: { 200: Type.Array(ReportOutcome) },
      },
      handler: async (req) => {
        if (keys === undefined) throw new ApiError('not_found', 'This instance accepts no reports of a code host')
        const body = await readRawBody(req.body, { maxBytes: REPORT_BYTES_MAX, field: 'body' })
        const keyId = String(req.headers['github-public-key-identifier'] ?? '')
        const value = String(req.headers['github-public-key-signature'] ?? '')
        if (keyId === '' || value === '' || !(await keys.isSigned(body, { keyId, value }))) {
          throw new ApiError(
            'unauthorized',
            'The signature of the report does not match a current key of the code host',
          )
        }
        const actor = { kind: 'anonymous', address: req.clientAddress } as const
        const outcomes: ReportOutcome[] = []
        for (const { token, type, url } of parseReports(body)) {
          const isRevoked = await revokeLeakedToken(deps, token, url === undefined ? { actor } : { actor, url })
          outcomes.push({ token_raw: token, token_type: type, label: isRevoked ? 'true_positive' : 'false_positive' })
        }
        return outcomes
      },
    })
  })
}
