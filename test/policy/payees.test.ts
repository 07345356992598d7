import fc from 'fast-check'
import { encodeFunctionData, erc20Abi } from 'viem'
import { describe, expect, test } from 'vitest'
import type { Address } from '../../src/domain/ids.js'
import type { TxKind } from '../../src/domain/transaction.js'
import { payeesOf, SHOWN_PAYEES_MAX, shownPayeesOf } from '../../src/policy/payees.js'

const TOKEN: Address = `0x${'Aa'.repeat(20)}`
const PAID: Address = `0x${'bB'.repeat(20)}`
const STRANGER: Address = `0x${'cC'.repeat(20)}`
const lower = (address: Address) => address.toLowerCase() as Address

const plain = { chainId: 8453, to: PAID, value: 1n, data: '0x' } as const
const transfer = {
  ...{ chainId: 8453, to: TOKEN, value: 0n },
  data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [lower(PAID), 5n] }),
} as const
const unreadable = { chainId: 8453, to: TOKEN, value: 0n, data: '0xdeadbeef' } as const
const from = (addresses: readonly Address[]) => addresses.map((address) => ({ address }))

describe('whom a send pays', () => {
  test('is named by its bytes, or is the callee of what nobody can read', () => {
    const named = (call: typeof plain | typeof transfer | typeof unreadable) =>
      payeesOf({ kind: 'send', call })
    expect(named(plain)).toEqual([lower(PAID)])
    expect(named(transfer)).toEqual([lower(PAID)])
    expect(named(unreadable)).toEqual([lower(TOKEN)])
  })

  test('is besides whom its simulation showed, each once and in lower case', () => {
    const shownPayees = shownPayeesOf(
      { kind: 'send', call: transfer },
      from([PAID, STRANGER, STRANGER, TOKEN]),
    )
    expect(shownPayees).toEqual([lower(STRANGER), lower(TOKEN)])
    expect(payeesOf({ kind: 'send', call: transfer, shownPayees })).toEqual([
      ...[lower(PAID), lower(STRANGER), lower(TOKEN)],
    ])
  })

  test('is bounded in what is stored of it', () => {
    const many = Array.from(
      { length: 2 * SHOWN_PAYEES_MAX },
      (_, n): Address => `0x${n.toString(16).padStart(40, '0')}`,
    )
    expect(shownPayeesOf({ kind: 'send', call: plain }, from(many))).toHaveLength(SHOWN_PAYEES_MAX)
  })

  test('is nobody but the wallet itself in sponsored calls', () => {
    const kinds: readonly TxKind[] = ['swap', 'defi_deposit', 'defi_withdraw', 'gas_swap']
    for (const kind of kinds) {
      expect(shownPayeesOf({ kind, call: unreadable }, from([STRANGER]))).toEqual([])
      expect(payeesOf({ kind, call: unreadable })).toEqual([])
    }
  })
})

test('what is counted with what was stored is all that the call and its simulation show', () => {
  const address = fc
    .integer({ min: 0, max: 12 })
    .map((n): Address => `0x${n.toString(16).padStart(40, 'A')}`)
  const call = fc.oneof(
    address.map((to) => ({ ...plain, to })),
    address.map((to) => ({ ...unreadable, to })),
    fc.tuple(address, address).map(([to, payee]) => ({
      ...transfer,
      to,
      data: encodeFunctionData({
        abi: erc20Abi,
        functionName: 'transfer',
        args: [lower(payee), 1n],
      }),
    })),
  )
  fc.assert(
    fc.property(call, fc.array(address), (one, recipients) => {
      const shownPayees = shownPayeesOf({ kind: 'send', call: one }, from(recipients))
      const all = payeesOf({ kind: 'send', call: one, shownPayees })
      const named = payeesOf({ kind: 'send', call: one })
      expect(new Set(all)).toEqual(new Set([...named, ...recipients.map(lower)]))
      expect(new Set(all).size).toBe(all.length)
    }),
  )
})
