import { expect, test } from 'vitest'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import { checkDelegation } from '../../actors/sub-wallet/effects/delegation.js'
import type { ChainAccess } from '../../src/chains/access.js'
import { type AccountCode, NO_CODE } from '../../src/chains/account-code.js'
import { ADDRESS, CHAIN_ID } from '../actors/wallet-fixtures.js'
import { VirtualTimers } from '../support/virtual-timers.js'

const CHECK = { type: 'check-delegation', chainId: CHAIN_ID, account: ADDRESS } as const

test('a delegation is checked once at a time, however many calls are mined meanwhile', async () => {
  let asked = 0
  let answer = (_code: AccountCode): void => undefined
  const reads = {
    forgetCode: () => undefined,
    code: () => {
      asked++
      return new Promise<AccountCode>((resolve) => {
        answer = resolve
      })
    },
    transactionCount: async () => 7,
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
  answer(NO_CODE)
  await first
  expect(heard).toMatchObject([{ type: 'delegation-checked', delegated: false, chainNonce: 7 }])
  expect(underWay.size).toBe(0)

  const again = check()
  answer(NO_CODE)
  await again
  expect([asked, heard.length]).toEqual([2, 2])
})
