// Routes that change, reset and verify passwords and email addresses.

import { SCOPES } from '#features/basics/access/scopes.ts'
import { requireScope, requireViewer } from '#features/basics/authentication/access-control.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import { type AccountDeps, clientOf } from '../account-deps.ts'
import { EmailChange, EmailFlow, PasswordChange, PasswordResetRequest } from '../requests.ts'
import { changeEmail, resendVerification, verifyEmail } from './change-email.ts'
import { changePassword, resetPassword } from './change-password.ts'
import { requestPasswordReset } from './request-password-reset.ts'
import { undoEmailChange } from './undo-email-change.ts'

export function credentialRoutes(app: App, deps: AccountDeps): void {
  passwordRoutes(app, deps)
  emailRoutes(app, deps)
}

function passwordRoutes(app: App, deps: AccountDeps): void {
  app.post('/auth/password/reset', {
    config: { auth: 'public', errors: ['400 captcha_error'] },
    schema: {
      operationId: 'requestPasswordReset',
      summary: 'Send a password reset link by email',
      description: 'The response does not reveal whether the account exists.',
      body: PasswordResetRequest,
    },
    handler: async (req) => {
      const { username: name, challenge } = req.body
      await requestPasswordReset(deps, { name, challenge, address: req.clientAddress })
    },
  })
  app.patch('/auth/password', {
    // With a flow, no sign-in is required. Otherwise the handler requires USER_AUTH_WRITE.
    config: {
      auth: { read: SCOPES.map(({ name }) => name) },
      cost: COSTS.password,
      whenReadOnly: 'refused',
      errors: ['401 invalid_credentials'],
    },
    schema: {
      operationId: 'changePassword',
      summary: 'Set a password with the old password or the flow of a reset link',
      description:
        'Ends all other sessions and, unless `end_tokens` is false, everything else that acts for the account.',
      body: PasswordChange,
    },
    handler: async (req) => {
      const { flow, old_password, new_password: newPassword, end_tokens: endTokens = true } = req.body
      const { password = old_password, code } = req.body
      if (flow !== undefined) {
        await resetPassword(deps, { flow, newPassword, endTokens, client: clientOf(req) })
      } else {
        const viewer = requireViewer(req)
        requireScope(viewer, 'USER_AUTH_WRITE')
        await changePassword(deps, { viewer, newPassword, endTokens, proof: { password, code } })
      }
    },
  })
}

function emailRoutes(app: App, deps: AccountDeps): void {
  app.patch('/auth/email', {
    config: {
      auth: { scope: ['USER_AUTH_WRITE'] },
      cost: COSTS.password,
      errors: ['401 invalid_credentials', '404 not_found'],
    },
    schema: {
      operationId: 'changeEmail',
      summary: 'Change the email address',
      description: 'Sends a link to the previous email address that can undo the change for 7 days.',
      body: EmailChange,
    },
    handler: async (req) => {
      const { email, ...proof } = req.body
      await changeEmail(deps, { viewer: requireViewer(req), email, proof })
    },
  })
  app.post('/auth/email/resend_verify', {
    config: { auth: { scope: ['USER_AUTH_WRITE'] } },
    schema: { operationId: 'resendVerification', summary: 'Resend the verification link' },
    handler: (req): Promise<void> => resendVerification(deps, requireViewer(req).id),
  })
  app.post('/auth/email/undo', {
    config: { auth: 'public', errors: ['409 conflict'] },
    schema: {
      operationId: 'undoEmailChange',
      summary: 'Undo a change of the email address with the flow of a link',
      description:
        'Ends all sessions and removes the password. Removes two-factor sign-in and ends tokens, authorizations, secret feeds and trusted publishers that were added after the change; switches the webhooks of the user off. Sends a link to set a new password.',
      body: EmailFlow,
    },
    handler: (req): Promise<void> => undoEmailChange(deps, req.body.flow, clientOf(req)),
  })
  app.post('/auth/email/verify', {
    config: { auth: 'public' },
    schema: { operationId: 'verifyEmail', summary: 'Verify an email address with the flow of a link', body: EmailFlow },
    handler: (req): Promise<void> => verifyEmail(deps, req.body.flow),
  })
}
