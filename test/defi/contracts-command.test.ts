import { readFileSync, writeFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Address, type Hex, parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { openChainWriter } from '../../scripts/contracts/chain-writer.js'
import { createRpcClient } from '../../src/chains/rpc/client.js'
import { coSignerFindings } from '../../src/cli/doctor/co-signer-checks.js'
import type { Io } from '../../src/cli/io.js'
import { runProgram } from '../../src/cli/program.js'
import type { ChainConfig } from '../../src/config/chains.js'
import agentRouter from '../../src/contracts/generated/agent-router.json' with { type: 'json' }
import { registryPath, rootPrivateKeyPath } from '../../src/custody/domain-keys/layout.js'
import { rotateCoSigner } from '../../src/custody-tools/maintenance/rotate-co-signer.js'
import { provisionDev } from '../../src/custody-tools/provisioning/provision.js'
import { provisionDomain } from '../../src/custody-tools/provisioning/provision-domain.js'
import { withNodes, withoutKeys } from '../../src/custody-tools/provisioning/registry-draft.js'
import {
  openRegistryRoot,
  readSigned,
  signRegistry,
} from '../../src/custody-tools/provisioning/registry-root.js'
import { writeGasWalletsFile } from '../../src/defi/gas-wallets-file.js'
import { routerAddresses } from '../../src/defi/router-plan.js'
import { BASE_CHAIN_ID } from '../../src/domain/chains.js'
import { keyIdOf } from '../../src/quorum-protocol/p256.js'
import { type SponsoredChain, startSponsoredChain } from '../contracts/sponsored-chain.js'
import { chainConfig } from '../support/chain-config.js'

/** An operator's commands, as programs would run them, on a chain with venues and no Router. */

const ownerKey = generatePrivateKey()
const owner = privateKeyToAccount(ownerKey)
const { router, delegate } = routerAddresses(owner.address)
const gasWallet = privateKeyToAccount(generatePrivateKey()).address

let world: SponsoredChain
let home: string

beforeAll(async () => {
  world = await startSponsoredChain()
  const writer = openChainWriter(world.anvil.url, world.chainId, owner)
  await writer.client.setBalance({ address: owner.address, value: parseEther('1000') })
  home = await mkdtemp(join(tmpdir(), 'countersign-contracts-'))
  await provisionDev(home, { chains: [] })
  writeGasWalletsFile(home, [{ chainId: world.chainId, address: gasWallet }])
  await configured({})
})

afterAll(async () => {
  await world?.stop()
  await rm(home, { recursive: true, force: true })
})

beforeEach(() => {
  process.exitCode = 0
})

async function configured(said: Partial<ChainConfig>) {
  const { vaults } = world.world
  const { factory, router: swapRouter, quoter } = world.world.swap
  const chain = chainConfig(BASE_CHAIN_ID, {
    rpc_urls: [world.anvil.url],
    block_time_ms: 100,
    swap: { factory, router: swapRouter, quoter },
    markets: vaults.map(({ address }, at) => ({
      ...{ market_id: `m${at}`, protocol: 'erc4626', name: 'vault', vault: address },
    })),
    ...said,
  })
  await writeFile(join(home, 'chains.json'), JSON.stringify({ chains: [chain] }))
}

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

async function run(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  let [out, err] = ['', '']
  const io: Io = {
    env: { COUNTERSIGN_HOME: home, OWNER_KEY: ownerKey, ...env },
    out: (text) => {
      out += text
    },
    err: (text) => {
      err += text
    },
    isInteractive: false,
  }
  const code = await runProgram(io, args)
  process.exitCode = 0
  return { code, out, err }
}

async function transactions(args: readonly string[]) {
  const { code, out, err } = await run([...args, '--json'])
  expect(code, err).toBe(0)
  return (JSON.parse(out) as { transactions: Record<string, string | null>[] }).transactions
}

const SIGNED = ['--chain', `${BASE_CHAIN_ID}`, '--key-env', 'OWNER_KEY']

function readRouter<name extends 'paused' | 'coSigners' | 'feeRecipient'>(functionName: name) {
  return world.owner.client.readContract({ address: router, abi: agentRouter.abi, functionName })
}

function relays(address: Address) {
  return world.owner.client.readContract({
    ...{ address: router, abi: agentRouter.abi, functionName: 'isRelayer', args: [address] },
  })
}

describe('countersign contracts', () => {
  it('prints for a multi-signature owner what it would send, and sends nothing', async () => {
    const chain = ['--chain', `${BASE_CHAIN_ID}`]
    const dry = [...chain, '--owner', owner.address, '--dry-run']
    const planned = await transactions(['contracts', 'deploy', ...dry])
    expect(planned.map(({ what }) => what)).toEqual([
      `deploy AgentRouter at ${router}`,
      `deploy AgentDelegate at ${delegate}`,
    ])
    for (const { to, data, gas, tx_hash } of planned) {
      expect([to, tx_hash]).toEqual(['0x4e59b44847b379578588920cA78FbF26c0B4956C', null])
      expect(data).toMatch(/^0x[0-9a-f]{1000,}$/)
      expect(Number(gas)).toBeGreaterThan(500_000)
    }
    const verified = await run(['contracts', 'verify', ...chain, '--owner', owner.address])
    expect(verified.code).toBe(1)
    expect(verified.out).toContain('no contract at this address')
  })

  it('deploys, verifies and configures, and then has nothing left to do', async () => {
    const deployed = await transactions(['contracts', 'deploy', ...SIGNED])
    expect(deployed.every(({ tx_hash }) => tx_hash?.length === 66)).toBe(true)
    expect(await transactions(['contracts', 'deploy', ...SIGNED])).toEqual([])
    await configured({ router: router.toLowerCase(), delegate })
    expect((await run(['contracts', 'verify'])).code).toBe(0)

    const fees = ['--fee-recipient', world.feeRecipient]
    const steps = await transactions(['contracts', 'configure', ...SIGNED, ...fees])
    expect(steps.map(({ what }) => what?.split(' ')[0])).toEqual(['allow', 'add', 'pay', 'add'])
    expect(await transactions(['contracts', 'configure', ...SIGNED, ...fees])).toEqual([])
    expect(await readRouter('feeRecipient')).toBe(world.feeRecipient)
    expect(await relays(gasWallet)).toBe(true)
    // Another relayer is taken away again, on request.
    const stranger = world.relayer.account.address
    const writer = openChainWriter(world.anvil.url, world.chainId, owner)
    await writer.write(router, agentRouter.abi, 'addRelayers', [[stranger]])
    await transactions(['contracts', 'configure', ...SIGNED, '--remove-relayers', stranger])
    expect(await relays(stranger)).toBe(false)
  })

  it('pauses and lets go on', async () => {
    expect(await transactions(['contracts', 'pause', ...SIGNED])).toHaveLength(1)
    expect(await readRouter('paused')).toBe(true)
    expect(await transactions(['contracts', 'pause', ...SIGNED])).toEqual([])
    await transactions(['contracts', 'unpause', ...SIGNED])
    expect(await readRouter('paused')).toBe(false)
  })

  it('has the co-signers of the registry on chain: further ones, and former ones a while', async () => {
    const untilOf = async (x: string | undefined) =>
      (await readRouter('coSigners')).find(({ key }) => key.x === x)?.until
    const [first] = await readRouter('coSigners')
    const config = chainConfig(BASE_CHAIN_ID, { router: router.toLowerCase(), delegate })
    const rpc = createRpcClient({ chainId: BASE_CHAIN_ID, endpoints: [world.anvil.url] })
    onTestFinished(() => rpc.close())
    const rotate = (...more: string[]) =>
      transactions(['contracts', 'rotate-cosigner', ...SIGNED, ...more])
    expect(await untilOf(first?.key.x)).toBe(2 ** 48 - 1)

    const found = async () => (await coSignerFindings({ config, rpc }, home)).map((it) => it.status)
    expect(await found()).toEqual(['ok'])

    // A further node's, which the root names beside the first.
    const path = registryPath(home)
    const root = openRegistryRoot(rootPrivateKeyPath(home))
    const node = await provisionDomain(await mkdtemp(join(home, 'node-')), 'service', null)
    await signRegistry(path, root, withNodes(readSigned(path, root), [node], Date.now()))
    expect(await found()).toEqual(['fail'])
    expect(await rotate()).toMatchObject([{ what: 'add 1 co-signers' }])
    expect(await found()).toEqual(['ok'])
    const added = `0x${node.public_key.slice(2, 66)}`
    expect([await untilOf(first?.key.x), await untilOf(added)]).toEqual([2 ** 48 - 1, 2 ** 48 - 1])

    // One that no registry names ends, and so does the first node's once it has another.
    const writer = openChainWriter(world.anvil.url, world.chainId, owner)
    const { x, y } = world.coSigner
    const registry = readFileSync(path)
    await writer.write(router, agentRouter.abi, 'changeCoSigners', [[], [{ x, y }], 0n])
    expect(await found()).toEqual(['warn'])
    await rotateCoSigner(home, {
      overlapMs: 600_000,
      root: { kind: 'sign', privateKeyPath: rootPrivateKeyPath(home) },
    })
    // What it knows is done all the same.
    const unnamed = await run(['contracts', 'rotate-cosigner', ...SIGNED, '--overlap', '60'])
    expect([unnamed.code, unnamed.err]).toEqual([1, expect.stringContaining('--end-unnamed')])
    // It signs for ten minutes yet: what ends sooner would refuse what it signs.
    expect(await rotate('--overlap', '60', '--end-unnamed')).toMatchObject([
      { what: 'end 1 of them in 60 seconds' },
    ])
    expect(await untilOf(first?.key.x)).toBe(2 ** 48 - 1)
    const tooLong = await run(['contracts', 'rotate-cosigner', ...SIGNED, '--overlap', '3601'])
    expect([tooLong.code, tooLong.err]).toEqual([2, expect.stringContaining('3600')])
    expect(await rotate('--overlap', '900')).toMatchObject([
      { what: 'end 1 of them in 900 seconds' },
    ])
    const { timestamp } = await world.owner.client.getBlock()
    const until = Number(timestamp) + 900
    expect(await untilOf(first?.key.x)).toBe(until)
    expect(await untilOf(added)).toBe(2 ** 48 - 1)
    expect(await rotate('--overlap', '900')).toEqual([])
    // At once, where it turns out that it was stolen.
    const stolen = keyIdOf(Buffer.from(`04${first?.key.x.slice(2)}${first?.key.y.slice(2)}`, 'hex'))
    const ending = withoutKeys(readSigned(path, root), [stolen.toString('hex')], Date.now())
    await signRegistry(path, root, ending)
    expect(await rotate('--overlap', '0', '--end-unnamed')).toMatchObject([
      { what: 'end 2 of them in 0 seconds' },
    ])
    expect(await untilOf(first?.key.x)).toBeLessThan(until)
    // An older registry, as at another home, brings no revoked key back.
    const newest = readFileSync(path)
    writeFileSync(path, registry)
    const older = await run(['contracts', 'configure', ...SIGNED])
    expect([older.code, older.err]).toEqual([1, expect.stringContaining('install the newest')])
    expect(await untilOf(first?.key.x)).toBeLessThan(until)
    writeFileSync(path, newest)
  })

  it('names what differs from the artifacts, and exits with 1', async () => {
    const get = (address: Address) => world.owner.client.getCode({ address })
    const [routerCode, delegateCode] = [await get(router), await get(delegate)]
    const set = (address: Address, code: Hex | undefined) =>
      world.anvil.rpc('anvil_setCode', [address, code ?? '0x'])
    await set(router, `${routerCode?.slice(0, 202)}00${routerCode?.slice(204)}` as Hex)
    const bound = router.slice(2).toLowerCase()
    await set(delegate, delegateCode?.replaceAll(bound, 'ab'.repeat(20)) as Hex)
    const { code, out } = await run(['contracts', 'verify', '--json'])
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      contracts: [
        { contract: 'AgentRouter', verdict: 'the code differs from byte 100 on' },
        {
          contract: 'AgentDelegate',
          verdict: `its immutable ROUTER is 0x${'ab'.repeat(20)}, not the router`,
        },
      ],
    })
    await set(router, routerCode)
    await set(delegate, delegateCode)
  })

  it('takes no key from others’ sight, and none that does not own the Router', async () => {
    const keyFile = join(home, 'owner.key')
    await writeFile(keyFile, ownerKey)
    await chmod(keyFile, 0o644)
    const readable = await run(['contracts', 'pause', '--key-file', keyFile])
    expect([readable.code, readable.err]).toEqual([2, expect.stringContaining('chmod 600')])
    await chmod(keyFile, 0o600)
    expect((await run(['contracts', 'unpause', '--key-file', keyFile])).code).toBe(0)
    const other = await run(['contracts', 'pause', ...SIGNED], { OWNER_KEY: generatePrivateKey() })
    expect([other.code, other.err]).toEqual([1, expect.stringContaining(owner.address)])
    const bad = await run(['contracts', 'pause', ...SIGNED], { OWNER_KEY: `${ownerKey}00` })
    expect(bad.code).toBe(2)
    expect(bad.err).not.toContain(ownerKey.slice(2))
    expect((await run(['contracts', 'pause'])).code).toBe(2)
  })

  it('signs as the owner of a development instance next to one', async () => {
    await mkdir(join(home, 'chains'))
    const file = join(home, 'chains', 'deployer.json')
    await writeFile(file, JSON.stringify({ private_key: ownerKey }), { mode: 0o600 })
    expect(await transactions(['contracts', 'pause'])).toHaveLength(1)
    const planned = await transactions(['contracts', 'unpause', '--dry-run'])
    expect(planned).toMatchObject([{ to: router, tx_hash: null }])
    expect(await readRouter('paused')).toBe(true)
    expect(await transactions(['contracts', 'unpause'])).toHaveLength(1)
    await rm(file)
  })
})

describe('countersign gas-wallets', () => {
  it('lists what gas wallets lack, and tops them up', async () => {
    const listed = await run(['gas-wallets', '--executions', '100', '--json'])
    const { gas_wallets } = JSON.parse(listed.out) as {
      gas_wallets: { address: string; missing_wei: string }[]
    }
    expect(gas_wallets).toMatchObject([{ address: gasWallet, balance_wei: '0' }])
    const missing = BigInt(gas_wallets[0]?.missing_wei ?? 0)
    expect(missing).toBeGreaterThan(0n)
    const sent = await transactions(['gas-wallets', 'top-up', '--executions', '100', ...SIGNED])
    expect(sent).toMatchObject([{ to: gasWallet }])
    const balance = await world.owner.client.getBalance({ address: gasWallet })
    expect(balance).toBe(BigInt(sent[0]?.value ?? 0))
    expect((await run(['gas-wallets'])).out).toContain(gasWallet)
  })
})
