import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { open } from 'lmdb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serviceLayout, userSideLayout } from '../../src/custody/domain-keys/layout.js'
import { type Anvil, startAnvil } from '../support/anvil.js'
import { countersign } from './command.js'
import {
  newWalletId,
  type Quorum,
  type ReadyWallet,
  readyWallet,
  requestOf,
  signed,
  startQuorum,
  transfer,
} from './harness.js'

let quorum: Quorum
let wallet: ReadyWallet
const raws: { raw: string }[] = []

beforeAll(async () => {
  quorum = await startQuorum()
  wallet = await readyWallet(quorum)
  for (let nonce = 0; nonce < 40; nonce++) {
    const { rawTransaction } = await signed(quorum, requestOf(wallet, transfer(nonce)))
    raws.push({ raw: String(rawTransaction) })
  }
  await quorum.coSigner.createServiceWallet(newWalletId())
})
afterAll(() => quorum?.close())

describe('27: evidence', () => {
  test('proves every transaction that was signed', async () => {
    const { code, output } = await audit({ transactions: raws })
    expect(output).toContain('✓ both logs are whole and agree')
    expect(output).toContain('40 approvals by both keys')
    expect(code).toBe(0)
  })

  test('shows a flipped bit in either log', async () => {
    for (const domain of ['service', 'user'] as const) {
      const copy = copyOf(domain)
      await edit(copy, (bytes, index) => {
        if (index !== 7) return bytes
        const flipped = Buffer.from(bytes)
        flipped[120] = (flipped[120] ?? 0) ^ 1
        return flipped
      })
      const { code, output } = await audit({ [domain]: copy })
      expect(output).toContain('entry 7 does not match its hash')
      expect(code).toBe(1)
    }
  })

  test('shows one flipped bit wherever it is, and names each entry', async () => {
    const copy = copyOf('user')
    const flipped: number[] = []
    await edit(copy, (bytes, index) => {
      if (index % 2 === 0) return bytes
      const at = Math.floor((bytes.length * flipped.length) / 24)
      if (at >= bytes.length) return bytes
      flipped.push(index)
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ (1 << (index % 8))
      return changed
    })
    const { code, output } = await audit({ user: copy })
    expect(code).toBe(1)
    expect(flipped.length).toBeGreaterThan(15)
    for (const index of flipped) expect(output).toMatch(new RegExp(`entry ${index} `))
  })

  test('shows an entry that was taken out', async () => {
    const copy = copyOf('user')
    await edit(copy, (bytes, index) => (index === 9 ? null : bytes))
    const { code, output } = await audit({ user: copy })
    expect(output).toContain('entries 9 to 9 of chain 0 are missing')
    expect(code).toBe(1)
  })

  test('shows a transaction on chain that nobody approved, or not so', async () => {
    const other = await signed(quorum, requestOf(wallet, transfer(41)))
    const unseen = { from: wallet.address, chain_id: 8453, nonce: 999 }
    const { output, code } = await audit({
      transactions: [unseen, { raw: String(other.rawTransaction) }],
    })
    expect(output).toContain('nonce 999: no approval')
    expect(output).not.toContain('nonce 41')
    expect(code).toBe(1)
  })
})

describe('27: on chain', () => {
  let anvil: Anvil
  beforeAll(async () => {
    anvil = await startAnvil({ chainId: 8453 })
    await anvil.rpc('anvil_setBalance', [wallet.address, '0xde0b6b3a7640000'])
  })
  afterAll(() => anvil?.stop())

  test('a nonce that both keys approved is explained', async () => {
    await anvil.rpc('eth_sendRawTransaction', [raws[0]?.raw])
    await expect
      .poll(() => anvil.rpc('eth_getTransactionCount', [wallet.address, 'latest']))
      .toBe('0x1')
    const { code, output } = await audit({ rpc: anvil.url })
    expect(output).toContain('1 nonces on chain')
    expect(code).toBe(0)
  })

  test('a nonce that was used without evidence is named, with address and chain', async () => {
    await anvil.rpc('anvil_setNonce', [wallet.address, '0x40'])
    const { code, output } = await audit({ rpc: anvil.url })
    const address = wallet.address.toLowerCase()
    expect(output).toContain(`${address} on chain 8453, nonce 63: used without evidence`)
    expect(output).not.toContain('nonce 39:')
    expect(code).toBe(1)
  })

  test('a node that does not answer is an error, not a pass', async () => {
    await anvil.stop()
    const { code, output } = await audit({ rpc: anvil.url })
    expect(code).toBe(1)
    expect(output).not.toContain('✓')
  })
})

function copyOf(domain: 'service' | 'user'): string {
  const layout = domain === 'service' ? serviceLayout(quorum.home) : userSideLayout(quorum.home)
  const copy = join(quorum.home, `copy-${domain}-${Math.random().toString(36).slice(2)}`)
  mkdirSync(copy)
  // Not the lock file: to open and close it here would release this process's own locks on it.
  copyFileSync(join(layout.evidence, 'data.mdb'), join(copy, 'data.mdb'))
  return copy
}

async function edit(
  path: string,
  change: (bytes: Buffer, index: number) => Buffer | null,
): Promise<void> {
  const root = open({ path, overlappingSync: false, maxDbs: 4 })
  const log = root.openDB<Buffer, [number, number]>({ name: '02-evidence', encoding: 'binary' })
  for (const { key, value } of [...log.getRange()]) {
    const changed = change(value, key[1])
    if (changed === null) await log.remove(key)
    else await log.put(key, changed)
  }
  await root.close()
}

async function audit(with_: {
  service?: string
  user?: string
  transactions?: readonly unknown[]
  rpc?: string
}): Promise<{ code: number; output: string }> {
  const options: string[] = []
  if (with_.service !== undefined) options.push('--service', with_.service)
  if (with_.user !== undefined) options.push('--identity', with_.user)
  if (with_.transactions !== undefined) {
    const file = join(quorum.home, 'transactions.json')
    writeFileSync(file, JSON.stringify(with_.transactions))
    options.push('--transactions', file)
  }
  if (with_.rpc !== undefined) options.push('--rpc', with_.rpc)
  const { code, stdout, stderr } = await countersign(quorum.home, ['verify-audit', ...options])
  return { code, output: `${stdout}${stderr}` }
}
