import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { transact } from '../support/deploy.js'
import { executeAndAudit } from './audit.js'
import { APPROVAL_DRAINS } from './drains-by-approval.js'
import { DECEIT_DRAINS } from './drains-by-deceit.js'
import { DIRECT_DRAINS } from './drains-direct.js'
import type { Scenario } from './scenario.js'
import { ETHER, kitchenAbi, startWorld, thiefAbi, type World } from './world.js'

let world: World
beforeAll(async () => {
  world = await startWorld()
}, 300_000)
afterAll(() => world.stop())

async function arm(on: boolean): Promise<void> {
  const data = encodeFunctionData({ abi: thiefAbi, functionName: 'arm', args: [on] })
  await transact(world.anvil, { to: world.thief, data })
}

async function play(scenario: Scenario): Promise<void> {
  const wallet = await world.createWallet()
  const scene = { world, wallet }
  for (const { to, data } of scenario.given?.(scene) ?? []) {
    await transact(world.anvil, { from: wallet.address, to, data })
  }
  await world.anvil.rpc('anvil_setBalance', [wallet.address, `0x${(10n * ETHER).toString(16)}`])
  const call = await scenario.call(scene)
  const quote = await world.quoter.quote({
    chainId: world.chainId,
    from: wallet.address,
    ...call,
  })
  const { expected } = scenario
  if (!quote.ok) {
    expect(quote.fault.code).toBe(expected)
    return
  }
  if (quote.problem !== null) {
    expect(quote.problem.code).toBe(expected)
    return
  }
  if (quote.unpriced) {
    expect('unpriced').toBe(expected)
    return
  }
  expect('valued').toBe(expected)
  if (scenario.armed === true) await arm(true)
  const audit = await executeAndAudit(world, wallet, call, quote)
  if (scenario.armed === true) await arm(false)
  expect(audit.reverted).toBe(false)
  // A scenario in which nothing leaves would prove nothing.
  expect(audit.leftMicros > audit.gasMicros).toBe(scenario.onlyGas !== true)
  const { valueMicros, gasMicros } = quote.valuation
  expect(gasMicros >= audit.gasMicros).toBe(true)
  expect(valueMicros + gasMicros).toBeGreaterThanOrEqual(audit.leftMicros)
}

describe.each([
  ['moves value', DIRECT_DRAINS],
  ['lets others move value', APPROVAL_DRAINS],
  ['deceives', DECEIT_DRAINS],
])('no call that %s is valued below what an auditor sees leave', (_, scenarios) => {
  test.each(scenarios.map((scenario) => [scenario.title, scenario] as const))(
    '%s',
    async (_title, scenario) => {
      await play(scenario)
      const data = encodeFunctionData({ abi: kitchenAbi, functionName: 'setFeeBps', args: [0n] })
      await transact(world.anvil, { to: world.kitchen, data })
    },
    20_000,
  )
})
