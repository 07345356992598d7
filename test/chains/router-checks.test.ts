import { Registry } from 'prom-client'
import type { Address, Hex } from 'viem'
import { parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openChainWriter } from '../../scripts/contracts/chain-writer.js'
import { deployRouter } from '../../scripts/contracts/router-setup.js'
import { connectChains } from '../../src/chains/access.js'
import { startRouterChecks } from '../../src/chains/router-checks.js'
import type { ChainConfig } from '../../src/config/chains.js'
import type { RouterPair } from '../../src/defi/router-reads.js'
import { type Anvil, startAnvil } from '../support/anvil.js'
import { chainConfig } from '../support/chain-config.js'

let anvil: Anvil
let pair: RouterPair
let routerCode: Hex

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 8453 })
  const writer = openChainWriter(anvil.url, 8453, privateKeyToAccount(generatePrivateKey()))
  await writer.client.setBalance({ address: writer.account.address, value: parseEther('10') })
  pair = await deployRouter(writer)
  routerCode = (await writer.client.getCode({ address: pair.router })) ?? '0x'
})
afterAll(async () => {
  await anvil?.stop()
})

async function checked(said: Partial<ChainConfig>) {
  const { chains, close } = connectChains([
    chainConfig(8453, { rpc_urls: [anvil.url], ...said }),
    chainConfig(10),
  ])
  const registry = new Registry()
  const warnings: string[] = []
  const log = { warn: (context: object) => warnings.push(JSON.stringify(context)) }
  const checks = await startRouterChecks(chains, { registry, log }, 50)
  return {
    ...{ checks, warnings, registry },
    async close() {
      checks.close()
      await close()
    },
  }
}

test('a Router is there once its code and its delegate’s were seen to be ours', async () => {
  const { checks, registry, close } = await checked(pair)
  expect([checks.hasRouter(8453), checks.hasRouter(10), checks.hasRouter(1)]).toEqual([
    true,
    false,
    false,
  ])
  expect(await registry.metrics()).toContain('countersign_router_trusted{chain_id="8453"} 1')
  await close()
})

test('a Router whose code differs is none, with a warning, until it is in order', async () => {
  const altered = `${routerCode.slice(0, -2)}ff`
  await anvil.rpc('anvil_setCode', [pair.router, altered])
  const { checks, warnings, registry, close } = await checked(pair)
  expect(checks.hasRouter(8453)).toBe(false)
  expect(warnings.join()).toContain('router: the code differs from byte')
  expect(await registry.metrics()).toContain('countersign_router_trusted{chain_id="8453"} 0')
  await anvil.rpc('anvil_setCode', [pair.router, routerCode])
  await vi.waitFor(() => expect(checks.hasRouter(8453)).toBe(true), { timeout: 20_000 })
  await close()
})

test('a Router whose delegate obeys another one is none', async () => {
  const other: Address = '0x00000000000000000000000000000000000000AA'
  await anvil.rpc('anvil_setCode', [other, routerCode])
  const { checks, warnings, close } = await checked({ ...pair, router: other })
  expect(checks.hasRouter(8453)).toBe(false)
  expect(warnings.join()).toMatch(/delegate: its immutable ROUTER is 0x\w+, not the router/)
  await close()
})
