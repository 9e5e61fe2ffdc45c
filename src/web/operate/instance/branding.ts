// Name and branding: name, colour, logo, texts, registration and currency, each with the source of its value.

import { actorOf } from '#features/basics/audit/actor.ts'
import { ICON_BYTES_MAX } from '#features/basics/images/icons.ts'
import { HOME_SECTIONS, SettingsPatch } from '#features/basics/settings/requests.ts'
import { replaceMark, setMark } from '#features/basics/settings/set-mark.ts'
import { getStatistics } from '#features/basics/statistics/queries.ts'
import { fields } from '#web/kit/forms/fields.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import { uploadedImage } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { accentContrast } from '#web/ui/accent-contrast.ts'
import { fileSize } from '#web/ui/format.ts'
import { attributes, html, type Part } from '#web/ui/html.ts'
import { classOfHue, HUES } from '#web/ui/hues.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { saveBar } from '#web/ui/parts/actions.ts'
import { chips, optionCards } from '#web/ui/parts/choices.ts'
import { fileField, form } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { face } from '#web/ui/parts/lists.ts'
import { showOperator } from '../sections.ts'
import {
  changedSettings,
  type InstanceSettings,
  loadSettings,
  saveSettings,
  sourceOf,
  type TypedSettings,
} from './settings-values.ts'

const SECTION_TEXTS = {
  trending: 'home.rising',
  downloads: 'home.downloads',
  newest: 'home.newest',
  releases: 'home.releases',
  collections: 'home.collections',
} as const
const TEXTS = fields(SettingsPatch, {
  name: { label: 'ops.settings.name', isOptional: true },
  about: { label: 'ops.settings.about', said: 'The text About', rows: 8, isOptional: true },
  currency: { label: 'ops.settings.currency', isOptional: true },
})
const HOME = fields(SettingsPatch, {
  home_heading: { label: 'ops.settings.home-heading', said: 'The heading of the home page', isOptional: true },
  home_text: { label: 'ops.settings.home-text', said: 'The text of the home page', isOptional: true },
})
const REGISTRATIONS = ['open', 'invitation', 'closed'] as const

export function brandingPages(pages: Pages): void {
  formPage<InstanceSettings>(pages, {
    path: PATHS.operatorSettings,
    name: 'operateSettings',
    shows: 'Name, colour, logo, texts, registration',
    api: 'getSettings updateSettings setMark deleteMark',
    options: { role: 'admin' },
    load: loadSettings,
    show: showBranding,
    commands: { save: saveBranding, preview: previewBranding, logo: saveLogo, 'remove-logo': removeLogo },
    labels: {
      ...TEXTS.said,
      ...HOME.said,
      accent_hue: 'The colour',
      home_sections: 'The sections of the home page',
      registration: 'The registration',
      mark: 'The logo',
      ext: 'The logo',
    },
  })
}

async function saveBranding(request: OwnRequest, data: InstanceSettings, state: FormState): Promise<Outcome> {
  await saveSettings(request, data, typedBranding(data, state))
  return { done: 'saved' }
}

/** Shows the page itself, with its header, in the chosen name and colour, and the top of the home page. */
async function previewBranding(request: OwnRequest, data: InstanceSettings, state: FormState): Promise<Outcome> {
  const { page, deps, t } = request
  const chosen = changedSettings(data, typedBranding(data, state))
  const { accentHue: _, ...site } = page.site
  const hue = chosen.accent_hue === undefined ? data.settings.accent_hue : chosen.accent_hue
  const name = chosen.name === null ? deps.config.site.name : (chosen.name ?? site.name)
  page.site = { ...site, name, ...(hue === null ? {} : { accentHue: hue }) }
  const { projects, versions, authors } = await getStatistics(deps.dbRead)
  const [heading, text] = [state.text('home_heading').trim(), state.text('home_text').trim()]
  const sections = HOME_SECTIONS.filter((section) => state.list('home_sections').includes(section))
  const content = html`<div class="stack close"><p class="strong"${attributes({ dir: heading !== '' && 'auto' })}>${heading || t('home.heading', { name })}</p>
<p${attributes({ class: 'soft', dir: text !== '' && 'auto' })}>${text || t('home.figures', { projects, versions, authors })}</p>
<p><span class="button main">${t('layout.publish')}</span> <span class="button">${t('sign-up')}</span></p>
${sections.length > 0 && html`<p class="small soft">${new Intl.ListFormat(page.language.tag).format(sections.map((section) => t(SECTION_TEXTS[section])))}</p>`}</div>`
  const preview = sheetPart({
    id: 'preview',
    title: t('ops.settings.preview'),
    text: t('ops.settings.preview.text'),
    content,
  })
  return showBranding(request, data, state, preview)
}

function typedBranding(data: InstanceSettings, state: FormState): TypedSettings {
  const hue = state.text('accent_hue')
  const { name, registration } = data.settings
  const typedName = state.text('name').trim()
  return {
    name: typedName === '' ? null : typedName === name ? name : typedName,
    accent_hue: hue === '' ? null : /^\d{1,3}$/.test(hue) ? Number(hue) : hue,
    home_heading: state.text('home_heading').trim(),
    home_text: state.text('home_text').trim(),
    home_sections: chosenSections(data, state.list('home_sections', [])),
    about: state.text('about'),
    currency: state.text('currency').trim(),
    registration: state.text('registration', registration),
  }
}

async function saveLogo({ deps, viewer, req }: OwnRequest): Promise<Outcome> {
  await deps.files.assertAvailable()
  await setMark(deps, actorOf(viewer), uploadedImage(req.body))
  return { done: 'saved' }
}

async function removeLogo({ deps, viewer }: OwnRequest): Promise<Outcome> {
  await replaceMark(deps, actorOf(viewer), null)
  return { done: 'saved' }
}

function showBranding(request: OwnRequest, data: InstanceSettings, state: FormState, preview?: Part) {
  const { page, t } = request
  return showOperator(request, {
    section: PATHS.operatorSettings,
    heading: t('ops.settings'),
    text: t('ops.settings.text'),
    form: state,
    body: [preview, logoPart(page, data, state), settingsForm(page, data, state)],
  })
}

function settingsForm(page: PageContext, data: InstanceSettings, state: FormState): Part {
  const { t } = page.language
  const { settings } = data
  const from = (name: keyof typeof settings): string => sourceOf(page, data, name)
  const texts = TEXTS.controls(page, state, settings, {
    name: { hint: from('name') },
    about: { hint: t('ops.settings.markdown', { source: from('about') }) },
    currency: { hint: t('ops.settings.currency.hint', { source: from('currency') }) },
  })
  const preview = html`<button name="do" value="preview">${t('ops.settings.preview')}</button>`
  return form(page, {
    action: pathTo(page, PATHS.operatorSettings),
    content: [
      sheetPart({ id: 'texts', content: texts }),
      sheetPart({ id: 'home', title: t('ops.settings.home'), content: homeFields(page, data, state) }),
      sheetPart({
        id: 'colour',
        title: t('ops.settings.colour'),
        text: t('ops.settings.colour.text', { source: from('accent_hue') }),
        content: swatches(page, state.text('accent_hue', String(settings.accent_hue ?? ''))),
      }),
      sheetPart({
        id: 'sign-up',
        content: registrationCards(page, state.text('registration', settings.registration), from('registration')),
      }),
      saveBar(page, { more: preview }),
    ],
  })
}

function homeFields(page: PageContext, data: InstanceSettings, state: FormState): Part {
  const { t } = page.language
  const { settings } = data
  const sections = state.list('home_sections', settings.home_sections)
  const from = (name: keyof typeof settings): string => sourceOf(page, data, name)
  return html`${HOME.controls(page, state, settings, {
    home_heading: { hint: from('home_heading') },
    home_text: { hint: t('ops.settings.home-text.hint', { source: from('home_text') }) },
  })}
${chips(page, {
  legend: t('ops.settings.home-sections'),
  name: 'home_sections',
  hint: from('home_sections'),
  options: HOME_SECTIONS.map((name) => ({
    value: name,
    label: t(SECTION_TEXTS[name]),
    isChosen: sections.includes(name),
  })),
})}`
}

/** Returns null for all sections, so that the default remains in effect. */
function chosenSections({ settings, set }: InstanceSettings, chosen: readonly string[]): readonly string[] | null {
  if (chosen.length < HOME_SECTIONS.length) return chosen
  return set.includes('home_sections') ? null : settings.home_sections
}

/** Renders the hues. The text of each states its contrast, which must be at least 4.5. */
function swatches(page: PageContext, current: string): Part {
  const { t } = page.language
  const number = (value: number): string => value.toLocaleString(page.language.tag, { maximumFractionDigits: 1 })
  const option = (of: { value: string; label: Part; text: string; hue?: string }): Part =>
    html`<label class="option"><input${attributes({ type: 'radio', name: 'accent_hue', value: of.value, checked: of.value === current })}><b>${of.label}</b>${of.hue !== undefined && html`<span class="swatch ${of.hue}"></span>`}<small>${of.text}</small></label>
`
  const isKnown = current === '' || HUES.includes(Number(current))
  const hues = isKnown ? HUES : [...HUES, Number(current)].sort((a, b) => a - b)
  return html`<fieldset class="stack close" id="accent_hue"><legend class="vh">${t('ops.settings.colour')}</legend><div class="options">
${option({ value: '', label: t('ops.settings.colour.default'), text: t('ops.settings.colour.default.text') })}${hues.map(
  (hue) => {
    const { light, dark } = accentContrast(hue)
    const text = t('ops.settings.contrast', { light: number(light), dark: number(dark) })
    return option({ value: String(hue), label: html`${hue}°`, text, hue: classOfHue(hue) })
  },
)}</div></fieldset>`
}

function registrationCards(page: PageContext, current: string, source: string): Part {
  const { t } = page.language
  const texts = {
    open: [t('ops.registration.open'), t('ops.registration.open.text')],
    invitation: [t('ops.registration.invitation'), t('ops.registration.invitation.text')],
    closed: [t('ops.registration.closed'), t('ops.registration.closed.text')],
  } as const
  return optionCards({
    legend: html`${t('ops.registration')} <span class="optional">${source}</span>`,
    name: 'registration',
    options: REGISTRATIONS.map((value) => ({
      value,
      label: texts[value][0],
      text: texts[value][1],
      isChosen: value === current,
    })),
  })
}

function logoPart(page: PageContext, data: InstanceSettings, { errors }: FormState): Part {
  const { t } = page.language
  const { mark, name } = data.settings
  const wrong = errors.map((error) =>
    error.field === 'mark' || error.field === 'ext' ? { ...error, field: 'picture' } : error,
  )
  const field = fileField(page, {
    name: 'picture',
    label: t('ops.settings.logo.new'),
    hint: t('ops.settings.logo.hint', { size: fileSize(page.language, ICON_BYTES_MAX) }),
    maxBytes: ICON_BYTES_MAX,
    accept: '.png,.webp,.svg',
    errors: wrong,
  })
  const content = html`<div class="row">${face({ name, url: mark?.url ?? null, isLarge: true, isSquare: true })}
${form(page, {
  action: pathTo(page, PATHS.operatorSettings),
  className: 'stack grow',
  hasFile: true,
  content: html`${field}<div class="line"><button name="do" value="logo">${t('picture.set')}</button>${mark !== null && html`<button class="plain" name="do" value="remove-logo" formnovalidate>${t('picture.remove')}</button>`}</div>`,
})}</div>`
  return sheetPart({ id: 'logo', title: t('ops.settings.logo'), text: sourceOf(page, data, 'mark'), content })
}
