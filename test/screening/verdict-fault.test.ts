import { describe, expect, it } from 'vitest'
import type { ListVersion } from '../../src/screening/lists/published-lists.js'
import { verdictFault } from '../../src/screening/verdict-fault.js'
import { LISTED } from './fixtures.js'

const lists: readonly ListVersion[] = []

describe('a verdict becomes the public refusal', () => {
  it('none when clean', () => {
    expect(verdictFault({ outcome: 'clean', lists })).toBeNull()
  })

  it('ADDRESS_BLOCKED with the address, the list, its version and the place', () => {
    const hit = {
      address: LISTED,
      path: 'multicall[0] → transfer.to',
      list: 'ofac-sdn',
      listVersion: 'v1',
      kind: 'sanctions',
    } as const
    expect(verdictFault({ outcome: 'blocked', lists, hit })).toMatchObject({
      code: 'ADDRESS_BLOCKED',
      details: {
        address: LISTED,
        list: 'ofac-sdn',
        version: 'v1',
        path: 'multicall[0] → transfer.to',
      },
    })
  })

  it('CALLDATA_UNDECODABLE with the reason and the place', () => {
    const verdict = { outcome: 'undecodable', lists, reason: 'It does not.', path: 'swap' } as const
    expect(verdictFault(verdict)).toMatchObject({
      code: 'CALLDATA_UNDECODABLE',
      message: 'It does not.',
      details: { path: 'swap' },
    })
  })

  it('SCREENING_UNAVAILABLE that keeps the operator’s reason out of public text', () => {
    const refusal = verdictFault({ outcome: 'unavailable', lists, reason: 'list x is stale' })
    expect(refusal).toMatchObject({ code: 'SCREENING_UNAVAILABLE', internal: 'list x is stale' })
    expect(JSON.stringify([refusal?.message, refusal?.details])).not.toContain('list x')
  })
})
