// The home page of an instance without projects: leads the operator on, and tells visitors what they can do.

import { isAdmin } from '#features/basics/access/viewer.ts'
import { hasAdmin } from '#features/people/accounts/sign-up/create-first-admin.ts'
import { PATHS, signInPath } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import type { MessageKey } from '#web/ui/languages.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'

type Step = { icon: IconName; title: MessageKey; text: MessageKey; path: string; label: MessageKey; isMain?: boolean }

const PUBLISH: Step = {
  icon: 'upload',
  title: 'home.publish',
  text: 'home.publish.text',
  path: PATHS.newProject,
  label: 'home.publish.go',
}

const OPERATOR_STEPS: readonly Step[] = [
  {
    icon: 'check',
    title: 'home.steps',
    text: 'home.steps.text',
    path: PATHS.firstSteps,
    label: 'home.steps.go',
    isMain: true,
  },
  {
    icon: 'palette',
    title: 'home.branding',
    text: 'home.branding.text',
    path: PATHS.operatorSettings,
    label: 'home.branding.go',
  },
  {
    icon: 'users',
    title: 'home.invite',
    text: 'home.invite.text',
    path: PATHS.operatorInvitations,
    label: 'home.invite.go',
  },
  PUBLISH,
]

export async function firstRunView({ page, viewer, deps }: PageRequest): Promise<Markup> {
  const { language } = page
  const isOperator = isAdmin(viewer)
  const steps = isOperator ? OPERATOR_STEPS : [{ ...PUBLISH, isMain: true }]
  const text = isOperator ? 'home.ready.operator' : 'home.ready.visitor'
  const hint: Part = isOperator || viewer !== null ? null : operatorHint(page, await hasAdmin(deps.db))
  return html`<div class="welcome">
<h1>${language.t('home.ready', { name: page.site.name })}</h1>
<p class="soft">${language.t(text)}</p>
</div>
<ol class="sheet first-run">
${steps.map((step, index) => stepView(page, step, steps.length > 1 ? index + 1 : undefined))}</ol>
${hint}`
}

function stepView(page: PageContext, step: Step, number: number | undefined): Markup {
  const { t } = page.language
  return html`<li>${icon(page, step.icon)}<div><h2>${number !== undefined && `${number}. `}${t(step.title)}</h2><p class="soft">${t(step.text)}</p></div><a class="button${step.isMain === true && ' main'}" href="${pathTo(page, step.path)}">${t(step.label)}</a></li>
`
}

/** Tells the operator how to begin: with the link that the server printed, or by signing in. */
function operatorHint(page: PageContext, isAdministrated: boolean): Markup {
  const { language } = page
  if (!isAdministrated) return html`<p class="soft">${language.t('home.operator.first')}</p>`
  const link = (label: Part) => html`<a href="${pathTo(page, signInPath(PATHS.firstSteps))}">${label}</a>`
  return html`<p class="soft">${language.rich('home.operator', { link })}</p>`
}
