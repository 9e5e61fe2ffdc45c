// The first steps of an instance: the progress with links, name, registration, demo, and the settings of the environment.

import { hasSecondFactor } from '#features/basics/access/accounts.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { SettingsPatch } from '#features/basics/settings/requests.ts'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { updateSettings } from '#features/basics/settings/update-settings.ts'
import type { Settings } from '#features/basics/settings/views.ts'
import { type FirstStep, loadFirstStepsAlone } from '#features/operation/overview/first-steps.ts'
import { ApiError } from '#lib/errors.ts'
import type { Config } from '#platform/config/config.ts'
import type { Deps } from '#ports/deps.ts'
import { limitsOf } from '#web/kit/forms/fields.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, withQuery } from '#web/kit/paths.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { mailKey } from '#web/ui/mail-texts.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { formPart } from '#web/ui/parts/actions.ts'
import { optionCards } from '#web/ui/parts/choices.ts'
import { buttonForm, hiddenField, textField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { status } from '#web/ui/parts/status.ts'
import { showOperator } from '../sections.ts'
import { mailVariables, variables } from '../variables.ts'

/** Number of projects of the demo that the page writes. */
const DEMO_PROJECTS = 40

type Steps = { settings: Settings; hasProjects: boolean; done: readonly FirstStep[] }
type SignIns = readonly { username: string; password: string; role: string }[]

export function firstStepPages(pages: Pages): void {
  formPage<Steps>(pages, {
    path: PATHS.firstSteps,
    name: 'operateFirstSteps',
    shows: 'Progress, name, registration and demo of a new instance',
    api: 'getOverview updateSettings',
    options: { role: 'admin' },
    load: loadSteps,
    show: (request, steps, form) => showSteps(request, steps, form),
    commands: {
      name: saveName,
      registration: saveRegistration,
      demo: writeDemo,
      dismiss: (request) => dismiss(request, { first_steps_dismissed: true }),
      recall: (request) => dismiss(request, { first_steps_dismissed: null }),
    },
    labels: { name: 'The name', registration: 'The registration' },
  })
}

async function loadSteps({ deps }: OwnRequest): Promise<Steps> {
  const project = await deps.db.selectFrom('project').select('id').limit(1).executeTakeFirst()
  return {
    settings: await getSettings(deps),
    hasProjects: project !== undefined,
    done: await loadFirstStepsAlone(deps),
  }
}

async function dismiss({ deps, viewer }: OwnRequest, patch: SettingsPatch): Promise<Outcome> {
  await updateSettings(deps, actorOf(viewer), patch)
  return { done: 'saved' }
}

async function saveName({ deps, viewer }: OwnRequest, _steps: Steps, form: FormState): Promise<Outcome> {
  const patch = checkValues(SettingsPatch, { name: form.text('name') })
  await updateSettings(deps, actorOf(viewer), patch)
  return { done: 'saved', path: PATHS.firstSteps }
}

async function saveRegistration({ deps, viewer }: OwnRequest, _steps: Steps, form: FormState): Promise<Outcome> {
  const patch = checkValues(SettingsPatch, { registration: form.text('registration') })
  await updateSettings(deps, actorOf(viewer), patch)
  return { done: 'saved' }
}

/** Writes the demo and shows the passwords of its accounts, which are not stored. @throws ApiError `conflict` */
async function writeDemo(request: OwnRequest, steps: Steps, form: FormState): Promise<Outcome> {
  const { deps, viewer } = request
  if (steps.hasProjects) throw new ApiError('conflict', 'The instance already has projects')
  // Only instances without projects need this code.
  const { seedCatalogue } = await import('#demo/seed/seed-catalogue.ts')
  const { signIns } = await seedCatalogue(deps, DEMO_PROJECTS, () => {}, actorOf(viewer))
  return showSteps(request, { ...steps, hasProjects: true }, { ...form, isSubmitted: false }, signIns)
}

function showSteps(request: OwnRequest, steps: Steps, state: FormState, signIns: SignIns = []) {
  const { settings, hasProjects } = steps
  const { page, deps, t } = request
  return showOperator(request, {
    section: PATHS.firstSteps,
    heading: t('operate.first-steps'),
    text: t('operate.steps.text'),
    form: state,
    isSecret: signIns.length > 0,
    body: [
      checklistPart(request, steps),
      namePart(page, settings, state),
      registrationPart(page, settings, state),
      demoPart(page, { hasProjects, signIns }),
      urlPart(page, deps),
      mailPart(page, deps.config),
      gameVersionsPart(page, deps.config),
      sheetPart({
        id: 'finish',
        content: html`<div class="line"><a class="button main" href="${pathTo(page, PATHS.operator)}">${t('operate.steps.finish')}</a><a class="button" href="${pathTo(page, '/')}">${t('operate.steps.view')}</a></div>`,
      }),
    ],
  })
}

/** The page that completes a step. */
const PAGES: Record<FirstStep['step'], string> = {
  branding: PATHS.operatorSettings,
  pages: PATHS.operatorPages,
  backup: '/operator/backups',
  mail: '/operator/mail',
  game_versions: `${PATHS.operatorTags}/game_versions`,
  moderator: PATHS.operatorUsers,
  two_factor: withQuery(PATHS.operatorUsers, { role: 'admin', two_factor: 'no' }),
}

/** Renders all steps, with a link and a reason each. */
function checklistPart({ page, deps, account, t }: OwnRequest, { settings, done }: Steps): Markup {
  const isNamed = settings.name !== deps.config.site.name
  const rows = done.map(({ step, done: isDone }) => {
    const path = step === 'two_factor' && !hasSecondFactor(account) ? PATHS.security : PAGES[step]
    const spoken = t(isDone ? 'publish.checklist.done' : 'publish.checklist.open')
    return html`<li class="${isDone ? 'done' : 'todo'}">${icon(page, isDone ? 'ok' : 'circle')}<span><a href="${pathTo(page, path)}">${t(`operate.first-step.${step}`)}</a><span class="vh"> (${spoken})</span></span><small>${t(step === 'branding' && !isDone && isNamed ? 'operate.first-step.branding.logo' : `operate.first-step.${step}.text`)}</small></li>`
  })
  const isDismissed = settings.first_steps_dismissed
  const isComplete = done.every((step) => step.done)
  const button = buttonForm(page, {
    action: pathTo(page, PATHS.firstSteps),
    text: t(isDismissed ? 'operate.first-step.recall' : 'operate.first-step.dismiss'),
    isTight: true,
    fields: { do: isDismissed ? 'recall' : 'dismiss' },
  })
  return sheetPart({
    id: 'checklist',
    title: stepsDone(page, done),
    action: !isComplete && button,
    content: html`<ul class="checks">${rows}</ul>`,
  })
}

const stepsDone = ({ language: { t } }: PageContext, steps: readonly FirstStep[]): string =>
  t('operate.first-step.count', { done: steps.filter(({ done }) => done).length, count: steps.length })

/** Renders the progress of the steps for the overview, until all are done or dismissed. */
export function stepsNote(page: PageContext, steps: readonly FirstStep[], settings: Settings): Part {
  const { t } = page.language
  const done = steps.filter((step) => step.done).length
  if (settings.first_steps_dismissed || done === steps.length) return false
  const dismissal = buttonForm(page, {
    action: pathTo(page, PATHS.firstSteps),
    text: t('operate.first-step.dismiss'),
    kind: 'plain',
    fields: { do: 'dismiss' },
  })
  return html`<div class="note" role="note" aria-label="${t('operate.first-steps')}">${icon(page, 'list-checks')}<div><p><a href="${pathTo(page, PATHS.firstSteps)}">${t('operate.first-steps')}</a>: ${stepsDone(page, steps)}</p><progress value="${done}" max="${steps.length}" aria-label="${t('operate.first-steps')}">${stepsDone(page, steps)}</progress>${dismissal}</div></div>`
}

/** Renders a step with its own form. */
function step(page: PageContext, of: { id: string; title: string; text: Part; fields: Part; button: string }): Markup {
  const content = html`${hiddenField('do', of.id)}${of.fields}<div class="line"><button class="main">${of.button}</button></div>`
  return formPart(page, { id: `step-${of.id}`, title: of.title, text: of.text, path: PATHS.firstSteps, content })
}

function namePart(page: PageContext, settings: Settings, state: FormState): Markup {
  const { t } = page.language
  return step(page, {
    id: 'name',
    title: t('operate.steps.name'),
    text: t('operate.steps.name.text'),
    fields: textField(page, {
      name: 'name',
      label: t('field.name'),
      value: state.text('name', settings.name) || settings.name,
      ...limitsOf(SettingsPatch.properties.name),
      errors: state.errors,
    }),
    button: t('save'),
  })
}

function registrationPart(page: PageContext, settings: Settings, state: FormState): Markup {
  const { t } = page.language
  const chosen = state.text('registration', settings.registration) || settings.registration
  const options = (['open', 'invitation', 'closed'] as const).map((value) => ({
    value,
    label: t(`operate.registration.${value}`),
    text: t(`operate.registration.${value}.text`),
    isChosen: value === chosen,
  }))
  return step(page, {
    id: 'registration',
    title: t('operate.steps.registration'),
    text: t('operate.steps.registration.text'),
    fields: optionCards({ legend: t('operate.steps.registration'), name: 'registration', options }),
    button: t('save'),
  })
}

function demoPart(page: PageContext, { hasProjects, signIns }: { hasProjects: boolean; signIns: SignIns }): Markup {
  const { t, rich } = page.language
  if (signIns.length > 0) {
    const rows = signIns.map(
      ({ username, password, role }) =>
        html`<dt><bdi>${username}</bdi> (${t(`operate.role.${role === 'moderator' ? 'moderator' : 'developer'}`)})</dt><dd><code>${password}</code></dd>`,
    )
    const content = html`<p>${t('operate.steps.demo.written')}</p><dl class="pairs wide">${rows}</dl>`
    return sheetPart({ id: 'step-demo', title: t('operate.steps.demo'), content })
  }
  const command = html`<code>depot seed --remove --yes</code>`
  if (hasProjects)
    return sheetPart({
      id: 'step-demo',
      title: t('operate.steps.demo'),
      content: html`<p>${rich('operate.steps.demo.present', { command })}</p>`,
    })
  return step(page, {
    id: 'demo',
    title: t('operate.steps.demo'),
    text: rich('operate.steps.demo.text', { command }),
    fields: null,
    button: t('operate.steps.demo.write', { count: DEMO_PROJECTS }),
  })
}

function urlPart(page: PageContext, { config }: Pick<Deps, 'config'>): Markup {
  const { t } = page.language
  const { baseUrl, isBaseUrlGuessed } = config.http
  const warning =
    isBaseUrlGuessed &&
    html`<p>${status(page, { kind: 'wait', icon: 'wait', label: t('operate.problem.base_url', { url: baseUrl }) })}</p>`
  const rows = [{ name: 'BASE_URL', value: html`<code>${baseUrl}</code>` }]
  return sheetPart({
    id: 'step-url',
    title: t('operate.steps.url'),
    text: t('operate.steps.url.text'),
    content: html`${warning}${variables(page, config, rows)}`,
  })
}

function mailPart(page: PageContext, config: Config): Markup {
  const { t } = page.language
  const test = html`<p><a href="${pathTo(page, '/operator/mail')}">${t('operate.steps.mail.test')}</a></p>`
  return sheetPart({
    id: 'step-mail',
    title: t('operate.mail'),
    text: t(mailKey(page, 'operate.steps.mail.text')),
    content: html`${mailVariables(page, config)}${test}`,
  })
}

function gameVersionsPart(page: PageContext, config: Config): Markup {
  const { t } = page.language
  const { versionManifestUrl } = config
  const name = 'GAME_VERSIONS_URL'
  const value =
    versionManifestUrl === undefined ? t('operate.steps.game-versions.none') : html`<code>${versionManifestUrl}</code>`
  const tags = html`<p><a href="${pathTo(page, `${PATHS.operatorTags}/game_versions`)}">${t('operate.steps.game-versions.edit')}</a></p>`
  return sheetPart({
    id: 'step-game-versions',
    title: t('operate.steps.game-versions'),
    text: t('operate.steps.game-versions.text'),
    content: html`${variables(page, config, [{ name, value }])}${tags}`,
  })
}
