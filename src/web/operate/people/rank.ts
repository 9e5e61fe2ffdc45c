// Role and badges of an account.

import { BADGES, type Badge, badgesOf } from '#features/basics/access/permissions.ts'
import { endLostAccess } from '#features/people/revocation/end-access.ts'
import { UserPatch } from '#features/people/users/requests.ts'
import { updateUser } from '#features/people/users/update-user.ts'
import { proofOf } from '#web/account/settings/settings-views.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { html } from '#web/ui/html.ts'
import { chips, optionCards } from '#web/ui/parts/choices.ts'
import { accountPath, roleName } from './accounts.ts'
import { confirmOwnerOf, decisionPage, type ManagedAccount } from './confirmed.ts'

const ROLES = ['developer', 'moderator', 'admin'] as const

export function rankPages(pages: Pages): void {
  decisionPage(pages, {
    path: 'role',
    name: 'operateRole',
    title: ({ page }, { account }) => page.language.t('ops.role.title', { name: account.username }),
    button: ({ page }, { account }) => page.language.t('ops.role.save', { name: account.username }),
    consequences: ({ page }) => [page.language.t('ops.role.effect'), page.language.t('ops.role.last')],
    fields: roleField,
    decide: (request, data, form) => saveRank(request, data, { form, patch: { role: form.text('role') } }),
    labels: { role: 'The role' },
    isDanger: false,
  })
  decisionPage(pages, {
    path: 'badges',
    name: 'operateBadges',
    title: ({ page }, { account }) => page.language.t('ops.badges.title', { name: account.username }),
    button: ({ page }) => page.language.t('ops.badges.save'),
    consequences: ({ page }) => [page.language.t('ops.badges.effect')],
    fields: ({ page }, { account }, form) => {
      const chosen = form.list('badges', badgesOf(account.badges))
      return chips(page, {
        legend: page.language.t('ops.account.badges'),
        name: 'badges',
        options: (Object.keys(BADGES) as Badge[]).map((badge) => ({
          value: badge,
          label: badge.toLowerCase().replaceAll('_', ' '),
          isChosen: chosen.includes(badge),
        })),
      })
    },
    decide: (request, data, form) => {
      const bits = form.list('badges').reduce((sum, badge) => sum | (BADGES[badge as Badge] ?? 0), 0)
      return saveRank(request, data, { form, patch: { badges: bits } })
    },
    isDanger: false,
  })
}

function roleField({ page }: OwnRequest, { account }: ManagedAccount, form: FormState) {
  const { t } = page.language
  const current = form.text('role', account.role)
  const texts = {
    developer: t('ops.role.developer.text'),
    moderator: t('ops.role.moderator.text'),
    admin: t('ops.role.admin.text'),
  }
  return html`${optionCards({
    legend: t('ops.accounts.role'),
    name: 'role',
    options: ROLES.map((role) => ({
      value: role,
      label: roleName(page, role),
      text: texts[role],
      isChosen: role === current,
    })),
  })}`
}

async function saveRank(
  request: OwnRequest,
  { account }: ManagedAccount,
  { form, patch }: { form: FormState; patch: object },
) {
  const { deps, viewer } = request
  await updateUser({ ...deps, endLostAccess, confirmOwner: confirmOwnerOf(request) }, viewer, {
    name: account.id,
    patch: checkValues(UserPatch, patch),
    proof: proofOf((field) => form.text(field)),
  })
  return { done: 'account-changed', path: accountPath(account.id) } as const
}
