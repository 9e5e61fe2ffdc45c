// The pages that add a tag, and that change, rename, merge and remove it.
import { actorOf } from '#features/basics/audit/actor.ts'
import { checkRenaming, RENAMED_LISTS, renameTag } from '#features/basics/tags/edit/rename-tag.ts'
import { countUses, REPLACED_LISTS, type UsesOfTag } from '#features/basics/tags/edit/replace-tag.ts'
import { TAG_INPUTS, TAG_PATCHES } from '#features/basics/tags/edit/requests.ts'
import { nameOf, type TagRow } from '#features/basics/tags/edit/tag-row.ts'
import { type EditableTags, readEditableTags } from '#features/basics/tags/edit/views.ts'
import { addTag } from '#features/basics/tags/values/add-tag.ts'
import { changeTag, type TagPatch } from '#features/basics/tags/values/change-tag.ts'
import { findTag } from '#features/basics/tags/values/find-tag.ts'
import { checkMerge, mergeTags } from '#features/basics/tags/values/merge-tags.ts'
import { removeTag } from '#features/basics/tags/values/remove-tag.ts'
import { invalidInput } from '#lib/errors.ts'
import type { TagListName } from '#taxonomy/tag-lists.ts'
import { confirmFirst } from '#web/kit/forms/confirm.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { html, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { form, hiddenField, textField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { showOperator } from '../sections.ts'
import { headingOf, LABELS, TAG_FIELDS } from './tag-fields.ts'
import { ICON_FILE, readIcon } from './tag-icon.ts'
import { listName, listOf, listPath, tagPath } from './tag-rows.ts'

type TagPage = { list: TagListName; tags: EditableTags[TagListName]; id: string; row: TagRow; uses: UsesOfTag }

export function tagEditPages(pages: Pages): void {
  const options = { role: 'admin' } as const
  formPage<TagListName>(pages, {
    path: `${PATHS.operatorTags}/:list/new`,
    name: 'operateNewTag',
    api: 'addGame addLoader addCategory addGameVersion addLoaderField addLicense addLinkPlatform',
    options,
    load: async ({ param }) => listOf(param),
    show: showNewTag,
    commands: { save: saveNewTag, preview: previewNewTag },
    labels: LABELS,
  })
  formPage<TagPage>(pages, {
    path: `${PATHS.operatorTags}/:list/tag/:tag`,
    name: 'operateTag',
    api: 'changeGame changeLoader changeCategory changeGameVersion changeLoaderField changeLicense changeLinkPlatform removeTag mergeTags countTagUses renameCategories renameGameVersions renameLinkPlatforms',
    options,
    load: loadTag,
    show: showTag,
    commands: {
      save: saveTag,
      preview: previewTag,
      rename: confirmFirst(askRenaming, saveName),
      merge: confirmFirst(askMerge, merge),
      remove: confirmFirst(askRemoval, remove),
    },
    labels: LABELS,
  })
}

async function loadTag({ deps, param }: OwnRequest): Promise<TagPage> {
  const [list, id] = [listOf(param), param('tag')]
  const row = await findTag(deps, { list, id })
  const uses = await countUses(deps, list, nameOf(row))
  return { list, id, row, uses, tags: (await readEditableTags(deps))[list] }
}

/** Returns the form with the uploaded icon instead of the present one. */
async function withIcon({ req }: OwnRequest, state: FormState): Promise<FormState> {
  const icon = await readIcon(req.body, state.text('icon'))
  return { ...state, text: (name, current) => (name === 'icon' ? icon : state.text(name, current)) }
}

async function previewNewTag(request: OwnRequest, list: TagListName, state: FormState): Promise<Outcome> {
  return showNewTag(request, list, await withIcon(request, state))
}

async function saveNewTag(request: OwnRequest, list: TagListName, state: FormState): Promise<Outcome> {
  const { deps, viewer } = request
  const values = TAG_FIELDS[list].read({ state: await withIcon(request, state), row: undefined, nowMs: deps.now() })
  // A new tag lacks what is empty, and is offered unless its form says otherwise.
  const given = Object.entries(values).filter(
    ([name, value]) => (value !== null || list === 'games') && !(name === 'hidden' && value === false),
  )
  const row = checkValues(TAG_INPUTS[list], Object.fromEntries(given)) as TagRow
  await addTag(deps, actorOf(viewer), { list, row })
  return { done: 'tag-saved', path: listPath(list) }
}

/** The icon is sent in a file field, so its errors belong to this field. */
function withIconErrors(list: TagListName, state: FormState): FormState {
  if (!hasIcon(list)) return state
  const errors = state.errors.map((error) => (error.field === 'icon' ? { ...error, field: ICON_FILE } : error))
  return { ...state, errors }
}

async function showNewTag(request: OwnRequest, list: TagListName, submitted: FormState) {
  const state = withIconErrors(list, submitted)
  const { page, t, deps } = request
  const fields = await TAG_FIELDS[list].draw({ page, taxonomy: deps.taxonomy, state, row: undefined })
  return showOperator(request, {
    section: PATHS.operatorTags,
    heading: t('ops.tags.new', { list: listName(page, list) }),
    form: state,
    body: sheetPart({
      id: 'tag',
      content: form(page, {
        action: pathTo(page, `${listPath(list)}/new`),
        className: 'stack',
        hasFile: hasIcon(list),
        content: html`${fields}
<div class="line"><a class="button" href="${pathTo(page, listPath(list))}">${t('work.cancel')}</a><button class="main" name="do" value="save">${t('ops.tags.add')}</button></div>`,
      }),
    }),
  })
}

const hasIcon = (list: TagListName): boolean => list === 'loaders' || list === 'categories'

async function previewTag(request: OwnRequest, data: TagPage, state: FormState): Promise<Outcome> {
  return showTag(request, data, await withIcon(request, state))
}

async function saveTag(request: OwnRequest, { list, id, row }: TagPage, state: FormState): Promise<Outcome> {
  const { deps, viewer, field } = request
  const values = TAG_FIELDS[list].read({ state: await withIcon(request, state), row, nowMs: deps.now() })
  const patch = checkValues(TAG_PATCHES[list], { ...values, revision: Number(field('revision')) }) as TagPatch
  await changeTag(deps, actorOf(viewer), { list, id, patch })
  return { done: 'tag-saved', path: listPath(list) }
}

async function askRenaming({ deps, t }: OwnRequest, data: TagPage, state: FormState) {
  const renaming = renamingOf(data, state)
  await checkRenaming(deps, renaming)
  return {
    title: t('ops.tags.rename.title', { name: renaming.from, to: renaming.to }),
    consequences: [t('ops.tags.changes', data.uses), t('operate.recorded')],
    button: t('ops.tags.rename'),
    isDanger: false,
  }
}

async function askMerge({ deps, t }: OwnRequest, data: TagPage, state: FormState) {
  const { from: name, to: into, list } = mergeOf(data, state)
  await checkMerge(deps, { list, from: name, to: into })
  return {
    title: t('ops.tags.merge.title', { name, into }),
    consequences: [t('ops.tags.changes', data.uses), t('ops.tags.merge.effect', { name, into }), t('operate.recorded')],
    button: t('ops.tags.merge'),
  }
}

/** Returns what removing the tag means for projects, and the alternative if there is one. */
function removalTexts({ t }: OwnRequest, { list, uses }: TagPage): string[] {
  if (list === 'licenses') return [t('ops.tags.remove.licence', { count: uses.projects })]
  const text = t('ops.tags.remove.text', { count: uses.projects })
  return list === 'loader_fields' ? [text] : [text, t('ops.tags.remove.instead')]
}

function askRemoval(request: OwnRequest, data: TagPage) {
  const { t } = request
  const name = nameOf(data.row)
  const consequences = [...removalTexts(request, data), t('operate.recorded')]
  return { title: t('ops.tags.remove.title', { name }), consequences, button: t('ops.tags.remove', { name }) }
}

function renamingOf({ list: of, row }: TagPage, state: FormState) {
  const list = RENAMED_LISTS.find((name) => name === of)
  if (list === undefined) throw invalidInput('Tags of this list cannot be renamed')
  return { list, from: nameOf(row), to: state.text('to').trim() }
}

function mergeOf({ list: of, row, tags }: TagPage, state: FormState) {
  const list = REPLACED_LISTS.find((name) => name === of)
  if (list === undefined) throw invalidInput('Tags of this list cannot be merged')
  const [from, to] = [nameOf(row), state.text('into').trim()]
  const others = (tags.rows as readonly object[]).map((each) => nameOf(each as TagRow)).filter((name) => name !== from)
  if (!others.includes(to)) throw invalidInput('must be the name of another tag of this list', 'into')
  return { list, from, to }
}

async function saveName({ deps, viewer }: OwnRequest, data: TagPage, state: FormState): Promise<Outcome> {
  await renameTag(deps, actorOf(viewer), renamingOf(data, state))
  return { done: 'tag-renamed', path: listPath(data.list) }
}

async function merge({ deps, viewer }: OwnRequest, data: TagPage, state: FormState): Promise<Outcome> {
  await mergeTags(deps, actorOf(viewer), mergeOf(data, state))
  return { done: 'tag-merged', path: listPath(data.list) }
}

async function remove({ deps, viewer, field }: OwnRequest, { list, id }: TagPage): Promise<Outcome> {
  await removeTag(deps, actorOf(viewer), { list, id, seen: Number(field('revision')) })
  return { done: 'tag-removed', path: listPath(list) }
}

/** Lists that are longer suggest no names: the page would be several times as large. */
const SUGGESTED_MAX = 200

async function showTag(request: OwnRequest, data: TagPage, submitted: FormState) {
  const { page, t, deps } = request
  const { list, id, row, uses, tags } = data
  const state = withIconErrors(list, submitted)
  const name = nameOf(row)
  const fields = await TAG_FIELDS[list].draw({ page, taxonomy: deps.taxonomy, state, row })
  const part = (of: { id: string; title?: string; text?: Part; content: Part; hasFile?: boolean }) =>
    sheetPart({
      id: of.id,
      ...(of.title === undefined ? {} : { title: of.title }),
      ...(of.text === undefined ? {} : { text: of.text }),
      content: form(page, {
        action: pathTo(page, tagPath(list, id)),
        className: 'stack',
        hasFile: of.hasFile === true,
        content: html`${hiddenField('revision', String(tags.revision))}${of.content}`,
      }),
    })
  const others = [...new Set((tags.rows as readonly object[]).map((each) => nameOf(each as TagRow)))]
  const suggestions = others.length > SUGGESTED_MAX ? [] : others.filter((each) => each !== name)
  const { errors } = state
  const input = { maxLength: 64, isCode: true, errors, autocomplete: 'off' }
  return showOperator(request, {
    section: PATHS.operatorTags,
    heading: headingOf(page, row, name),
    text: html`<a href="${pathTo(page, listPath(list))}">${listName(page, list)}</a> · ${t('ops.tags.used-by', uses)}`,
    form: state,
    body: [
      part({
        id: 'tag',
        hasFile: hasIcon(list),
        content: html`${fields}
<div class="line"><a class="button" href="${pathTo(page, listPath(list))}">${t('work.cancel')}</a><button class="main" name="do" value="save">${t('work.save')}</button></div>`,
      }),
      RENAMED_LISTS.some((each) => each === list) &&
        part({
          id: 'rename',
          title: t('ops.tags.rename-one', { name }),
          content: html`${textField(page, { ...input, name: 'to', label: t('ops.tags.to'), hint: t('ops.tags.changes', uses), value: state.text('to') })}
<div class="line"><button name="do" value="rename">${t('ops.tags.rename')}</button></div>`,
        }),
      REPLACED_LISTS.some((each) => each === list) &&
        part({
          id: 'merge',
          title: t('ops.tags.merge-one', { name }),
          text: t('ops.tags.merge.text'),
          content: html`${textField(page, { ...input, name: 'into', label: t('ops.tags.into'), hint: t('ops.tags.changes', uses), value: state.text('into'), suggestions })}
<div class="line"><button name="do" value="merge">${t('ops.tags.merge')}</button></div>`,
        }),
      part({
        id: 'remove',
        title: t('ops.tags.remove', { name }),
        text: removalTexts(request, data).join(' '),
        content: html`<div class="line"><button class="danger" name="do" value="remove">${t('ops.tags.remove', { name })}</button></div>`,
      }),
    ],
  })
}
