import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { CARD_HEIGHT, CARD_WIDTH, type Card, createDrawCard } from './draw-card.ts'

const drawAs = createDrawCard()
const draw = (given: Card) => drawAs(given, 'somebody')
const card: Card = {
  title: 'Lantern',
  text: 'Lights that follow you.',
  footer: 'Depot',
  color: null,
  icon: undefined,
  mark: undefined,
}

test('a card has a fixed size for any user text, and escapes this text', async () => {
  const icon = await sharp({ create: { width: 300, height: 20, channels: 3, background: '#f00' } })
    .png()
    .toBuffer()
  for (const given of [
    card,
    { ...card, icon },
    { ...card, icon: Buffer.from('not an image'), mark: Buffer.from('not an image') },
    { ...card, icon, mark: icon },
    { ...card, title: '', text: ' ', footer: '' },
    { ...card, title: 'W'.repeat(300), text: '\u{1f600}'.repeat(400) },
    { ...card, title: '<b>&amp;</b></span><span size="9999999">', text: '&#0;&bad;<!--' },
    { ...card, title: 'مصباح \u202e x', text: `a\u0000b\ud800c\n\n\n${'e\u0301\u0302\u0303'.repeat(70)}` },
  ]) {
    const { format, width, height } = await sharp(await draw(given)).metadata()
    assert.deepEqual([format, width, height], ['png', CARD_WIDTH, CARD_HEIGHT], given.title)
  }
})

test('it shows its texts and its colour', async () => {
  const first = await draw(card)
  assert.ok(first.equals(await draw(card)), 'the same card is the same bytes')
  for (const other of [{ title: 'Lamp' }, { text: 'Other.' }, { footer: 'Elsewhere' }, { color: 0xff0000 }])
    assert.ok(!first.equals(await draw({ ...card, ...other })), JSON.stringify(other))
})

test('rejects requests beyond the queue limit and draws the others', async () => {
  const own = createDrawCard()
  const results = await Promise.allSettled(
    Array.from({ length: 36 }, () => own({ ...card, text: '', footer: '' }, 'somebody')),
  )
  const refused = results.filter(({ status }) => status === 'rejected')
  assert.equal(refused.length, 2)
})
