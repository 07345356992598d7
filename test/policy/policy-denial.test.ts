import { expect, test } from 'vitest'
import { refusalFault } from '../../actors/account/effects/refusal-fault.js'
import { denialParts, parseDenial } from '../../src/quorum-protocol/policy-denial.js'

const DENIAL = {
  rule: 'payroll',
  field: 'count',
  observed: '4 in 3600 s',
  permitted: '3',
  retryAt: '2026-01-01T00:00:00.000Z',
  suggestion: 'Try again later.',
}

test('what the identity provider refuses by policy reaches the caller as POLICY_DENIED', () => {
  const denial = parseDenial(denialParts(DENIAL))
  if (denial === null) throw new Error('not read')
  expect(denial).toEqual(DENIAL)
  const refused = { ok: false, reason: 'REFUSED', detail: 'POLICY_DENIED' } as const
  const { retryAt, ...shown } = DENIAL
  expect(refusalFault({ ...refused, denial })).toMatchObject({
    code: 'POLICY_DENIED',
    details: { ...shown, retry_at: retryAt },
  })
  expect(refusalFault(refused)).toMatchObject({ code: 'PERMISSION_DENIED', details: {} })
})

test('words that are none, or too many, are left out and the refusal holds', () => {
  const parts = denialParts(DENIAL)
  const spoiled = [
    null,
    'text',
    [],
    parts.slice(1),
    [...parts, 1],
    ...parts.map((_, at) => parts.with(at, 7)),
    parts.with(2, 'x'.repeat(513)),
    parts.with(0, 'a line\nand another'),
  ]
  expect(spoiled.map(parseDenial)).toEqual(spoiled.map(() => null))
  const long = parseDenial(denialParts({ ...DENIAL, observed: 'x'.repeat(5_000) }))
  expect(long?.observed).toHaveLength(512)
})
