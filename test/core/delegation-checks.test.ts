import { expect, test } from 'vitest'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import { checkDelegation } from '../../actors/sub-wallet/effects/delegation.js'
import type { ChainAccess } from '../../src/chains/access.js'
import { NO_CODE } from '../../src/chains/account-code.js'
import type { AccountAt } from '../../src/chains/reads.js'
import { ADDRESS, CHAIN_ID } from '../actors/wallet-fixtures.js'
import { VirtualTimers } from '../support/virtual-timers.js'

const MINED_AT = 40
const CHECK = {
  type: 'check-delegation',
  ...{ chainId: CHAIN_ID, account: ADDRESS, minedAt: MINED_AT },
} as const

test('a delegation is checked once at a time, however many calls are mined meanwhile', async () => {
  let asked = 0
  let answer = (_account: AccountAt | null): void => undefined
  const reads = {
    account: (_address: string, height: number) => {
      expect(height).toBe(MINED_AT)
      asked++
      return new Promise<AccountAt | null>((resolve) => {
        answer = resolve
      })
    },
  }
  const chain = { reads } as unknown as ChainAccess
  const log = { warn: () => undefined } as never
  const timers = new VirtualTimers(0)
  const ports = { chains: new Map([[CHAIN_ID, chain]]), log, timers }
  const heard: Command[] = []
  const underWay = new Set<string>()
  const check = () => checkDelegation(ports, CHECK, underWay, (command) => heard.push(command))

  const first = check()
  await Promise.all([check(), check()])
  expect(asked).toBe(1)
  // No node has the block yet: that is no answer.
  answer(null)
  await timers.pass(10_000)
  expect([asked, heard]).toEqual([2, []])
  answer({ code: NO_CODE, nonce: 7 })
  await first
  expect(heard).toMatchObject([{ type: 'delegation-checked', delegated: false, chainNonce: 7 }])
  expect(underWay.size).toBe(0)

  const again = check()
  answer({ code: NO_CODE, nonce: 7 })
  await again
  expect([asked, heard.length]).toEqual([3, 2])
})
