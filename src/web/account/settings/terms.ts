// The consent to the Terms: asked when a new version needs it.
import type { FastifyReply } from 'fastify'
import { findPage, getPage, type PageVersion } from '#features/basics/settings/pages/queries.ts'
import { agreeToTerms } from '#features/people/accounts/terms/agree-to-terms.ts'
import { findCurrentTerms } from '#features/people/accounts/terms/check-terms-version.ts'
import { type Consent, listConsents } from '#features/people/accounts/terms/queries.ts'
import { NewConsent } from '#features/people/accounts/terms/requests.ts'
import { notFound } from '#lib/errors.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues, errorsOf, refusedField } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { ownPath, PATHS, returnPath } from '#web/kit/paths.ts'
import { exactTime } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { form, hiddenField } from '#web/ui/parts/fields.ts'
import { messages } from '../account-layout.ts'
import { termsField } from '../sign-in/sign-in-views.ts'

/** `consent`: the newest one that is sufficient. */
type Terms = { terms: PageVersion; consent: Consent | undefined; hasPrivacy: boolean }

export function termsPages(pages: Pages): void {
  formPage<Terms>(pages, {
    path: PATHS.terms,
    name: 'showTermsConsent',
    shows: 'The consent to the Terms',
    api: 'getTermsConsent agreeToTerms',
    load: loadTerms,
    show: showTerms,
    commands: { agree },
    labels: { version: 'The Terms' },
  })
}

/** @throws ApiError 404 if the site shows no Terms */
async function loadTerms({ deps, viewer }: OwnRequest): Promise<Terms> {
  const current = await findCurrentTerms(deps)
  if (current === undefined || !deps.config.site.isServed) throw notFound('page')
  const [consent] = await listConsents(deps.db, viewer.id)
  const isSufficient = consent !== undefined && consent.version >= (current.asked ?? 1)
  const hasPrivacy = ((await findPage(deps.db, 'privacy'))?.text ?? '') !== ''
  return { terms: await getPage(deps.db, 'terms'), consent: isSufficient ? consent : undefined, hasPrivacy }
}

async function agree({ deps, viewer, t }: OwnRequest, { terms }: Terms, state: FormState): Promise<Outcome> {
  const text = state.text('terms_version')
  if (text === '') throw refusedField('terms_version', t('terms.required'))
  const { version } = checkValues(NewConsent, { version: Number(text) })
  if (version !== terms.version) throw refusedField('terms_version', t('sign-up.terms.changed'))
  await agreeToTerms(deps, viewer.id, version)
  return { path: returnPath(state.text('return')), done: 'agreed' }
}

async function showTerms(request: OwnRequest, data: Terms, state: FormState): Promise<FastifyReply> {
  const { page, texts, t, rich, show } = request
  const { version, published, text } = data.terms
  const { refusal } = state
  const shown = rich('site.text.version', { version: String(version), time: exactTime(page.language, published) })
  const title = t('terms')
  const body = html`<div class="stack"><div class="sheet section"><h1>${title}</h1>
${messages(page, { refusal })}
${data.consent === undefined ? consentForm(request, data, state) : html`<p>${rich('terms.agreed', { version: String(data.consent.version), time: exactTime(page.language, data.consent.agreed) })}</p>`}
</div>
<article class="sheet section"><h2>${t('layout.terms')}</h2>
${await texts.render(text, page)}
<p class="soft">${shown}</p></article></div>`
  return show({ title, body, refusal, className: 'page' })
}

function consentForm({ page, query }: OwnRequest, { terms, hasPrivacy }: Terms, state: FormState): Part {
  const { t, rich } = page.language
  const returnTo = state.text('return', query('return'))
  const errors = errorsOf(state)
  const data = (id: string) => (text: Part) => html`<a href="${pathTo(page, `${PATHS.data}#${id}`)}">${text}</a>`
  const content = html`${hiddenField('return', returnTo)}
${termsField(page, { terms: terms.version, hasPrivacy, errors })}
<div class="row"><button class="main">${t('terms.send')}</button><a class="button" href="${pathTo(page, ownPath(returnTo) ?? page.site.paths.home)}">${t('terms.later')}</a></div>`
  return html`<p>${t('terms.text', { name: page.site.name })}</p>
<p class="soft">${rich('terms.until', { export: data('export'), delete: data('delete') })}</p>
${form(page, { action: pathTo(page, PATHS.terms), content })}`
}
