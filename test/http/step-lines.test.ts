import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createStepLines } from '../../src/config/step-lines.js'

const AT_MS = Date.UTC(2026, 10, 23, 6, 5, 4, 32)

function lined(level: string) {
  const written: string[] = []
  const later: (() => void)[] = []
  const logger = pino(
    { level, name: 'worker-0', timestamp: pino.stdTimeFunctions.isoTime },
    { write: (text: string) => void written.push(text) },
  )
  const lines = createStepLines({
    ...{ logger, name: 'worker-0', nowMs: () => AT_MS },
    later: (task) => void later.push(task),
  })
  return { written, later, logger, lines }
}

test('a step has a line with the fields that every line has', () => {
  const { written, later, logger, lines } = lined('info')
  lines?.note('signed', 8_453, 'tx_1', 'order-"1"', null)
  expect(written).toEqual([])
  later[0]?.()
  expect(written).toHaveLength(1)
  const own = JSON.parse(written[0] ?? '')
  expect(own).toMatchObject({ tx_id: 'tx_1', request_id: 'order-"1"', chain_id: 8_453 })
  expect(own).toMatchObject({ step: 'signed', time: '2026-11-23T06:05:04.032Z' })
  expect(own).not.toHaveProperty('code')
  logger.info('another')
  const others = Object.keys(JSON.parse(written[1] ?? ''))
  expect(Object.keys(own)).toEqual(expect.arrayContaining(others))
})

test('a refusal says its code', () => {
  const { written, lines } = lined('info')
  lines?.note('refused', 1, 'tx_1', 'r', 'LIMIT_EXCEEDED')
  lines?.flush()
  expect(JSON.parse(written[0] ?? '')).toMatchObject({ step: 'refused', code: 'LIMIT_EXCEEDED' })
})

test('a level above info has no such lines, and pays for none', () => {
  expect(lined('warn').lines).toBeNull()
})

test('lines leave whole, and no piece is longer than what a pipe takes at once', () => {
  const { written, later, lines } = lined('info')
  for (let i = 0; i < 100; i++) lines?.note('stored', 1, `tx_${i}`, `request-${i}`, null)
  expect(later).toHaveLength(1)
  later[0]?.()
  expect(written.length).toBeGreaterThan(1)
  for (const piece of written) {
    expect(piece.length).toBeLessThanOrEqual(4_096)
    expect(piece.endsWith('\n')).toBe(true)
  }
  expect(idsOf(written)).toEqual(Array.from({ length: 100 }, (_, i) => `tx_${i}`))
})

test('what waits is bounded: where the next line has no room, those before it are written at once', () => {
  const { written, lines } = lined('info')
  for (let i = 0; i < 2_048; i++) lines?.note('stored', 1, `tx_${i}`, 'r', null)
  const early = written.join('').split('\n').length - 1
  expect(early).toBeGreaterThan(1_000)
  expect(early).toBeLessThan(2_048)
  lines?.flush()
  expect(idsOf(written)).toEqual(Array.from({ length: 2_048 }, (_, i) => `tx_${i}`))
})

test('a request id is a string of JSON whatever its characters, and a line longer than a piece is whole', () => {
  const ids = ['order-"1"', 'C:\\x', 'zwölf\u0001', '\ud800', '漢字', 'x'.repeat(5_000), 'r']
  const { written, lines } = lined('info')
  for (const id of ids) lines?.note('stored', 1, 'tx_1', id, null)
  lines?.flush()
  const read = written
    .join('')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).request_id)
  expect(read).toEqual(ids)
  for (const piece of written) expect(piece.endsWith('\n')).toBe(true)
})

function idsOf(written: readonly string[]): string[] {
  return written
    .join('')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).tx_id)
}
