// Numbers and dates as users type them. Other texts stay as they are, and a schema refuses them.

/** Digits with a group of 3 after each separator: 1.000, 1,000, 1’000 or 1 000. */
const GROUPED = /^[1-9]\d{0,2}(?:[.,'’\s]\d{3}){1,3}$/

/** Returns a whole number without the separators of its groups. */
export function wholeOf(text: string): string {
  const typed = text.trim()
  return GROUPED.test(typed) ? typed.replace(/\D/g, '') : typed
}

type Separators = { group: string; point: string }
const COMMA_POINT: Separators = { group: '.', point: ',' }
const POINT: Separators = { group: ',', point: '.' }

/**
 * Returns a decimal as the API reads it, such as 1234.50. The language of the page decides what 1.234 means; a form of
 * another language that can mean only one number is accepted too.
 */
export function decimalOf(languageTag: string, text: string): string {
  const typed = text.trim().replace(/['’\s]/g, '')
  const forms = languageTag.startsWith('de') ? [COMMA_POINT, POINT] : [POINT, COMMA_POINT]
  for (const form of forms) {
    const plain = plainDecimal(typed, form)
    if (plain !== undefined) return plain
  }
  return text.trim()
}

function plainDecimal(typed: string, { group, point }: Separators): string | undefined {
  const [whole = '', fraction, ...rest] = typed.split(point)
  if (rest.length > 0 || !/^[\d.,]+$/.test(whole) || (fraction !== undefined && !/^\d+$/.test(fraction)))
    return undefined
  const [first = '', ...groups] = whole.split(group)
  const isGrouped = /^[1-9]\d{0,2}$/.test(first) && groups.every(isGroup)
  const isWhole = groups.length === 0 ? /^\d+$/.test(first) : isGrouped
  if (!isWhole) return undefined
  return `${first}${groups.join('')}${fraction === undefined ? '' : `.${fraction}`}`
}

const isGroup = (digits: string): boolean => /^\d{3}$/.test(digits)

/** Returns a date in the order year, month, day if it was typed with dots: 31.12.2026. A time after it stays. */
export function dateOf(text: string): string {
  const typed = text.trim()
  const [all, day = '', month = '', year = ''] = /^(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?=$|[\s,])/.exec(typed) ?? []
  if (all === undefined) return typed
  const time = typed.slice(all.length).replace(/^[\s,]+/, '')
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}${time === '' ? '' : ` ${time}`}`
}
