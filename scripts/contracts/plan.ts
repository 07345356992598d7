import { join, resolve } from 'node:path'
import { Command } from 'commander'
import { getAddress } from 'viem'
import { connectChains } from '../../src/chains/access.js'
import { RpcCallError } from '../../src/chains/rpc/errors.js'
import { readChainsFile } from '../../src/config/chains.js'
import { registryPath, serviceLayout } from '../../src/custody/domain-keys/layout.js'
import { readRegistryFile, readRootKey } from '../../src/custody/domain-keys/registry-file.js'
import { openRegistry, type RegistryBody } from '../../src/custody/protocol/registry.js'
import { createContractReads } from '../../src/defi/contract-reads.js'
import { readGasWalletsFile } from '../../src/defi/gas-wallets-file.js'
import {
  allowedCallsOf,
  planConfiguration,
  planDeployment,
  type RouterPolicy,
} from '../../src/defi/router-plan.js'
import { planTopUps } from '../../src/defi/top-up-plan.js'
import type { Address, Hex } from '../../src/domain/ids.js'

/**
 * `node scripts/run.mjs contracts/plan --owner 0x…`: what Routers and gas wallets lack, as
 * transactions for their owner. Reads alone; prints JSON lines and sends nothing.
 */
interface Options {
  readonly home: string
  readonly owner: string
  readonly feeRecipient?: string
  readonly guardian?: string
  readonly executions: string
}

const program = new Command('contracts/plan')
  .description('Print the transactions that would bring Routers and gas wallets in order.')
  .option(
    '--home <directory>',
    'home of the service',
    process.env.COUNTERSIGN_HOME ?? '.countersign',
  )
  .requiredOption('--owner <address>', 'owner of the Routers')
  .option('--fee-recipient <address>', 'receives the fees; default: the owner')
  .option('--guardian <address>', 'may pause; default: whoever may now')
  .option(
    '--executions <count>',
    'sponsored calls each gas wallet should be able to pay for',
    '500',
  )
  .action(plan)

async function plan(options: Options): Promise<void> {
  const home = resolve(options.home)
  const owner = getAddress(options.owner)
  const { chains, close } = connectChains(readChainsFile(join(home, 'chains.json')).chains)
  const reads = createContractReads((error): error is RpcCallError => error instanceof RpcCallError)
  const gasWallets = readGasWalletsFile(home)
  const print = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)
  try {
    for (const chain of chains.values()) {
      const { config } = chain
      const policy: RouterPolicy = {
        owner,
        coSigner: coSignerOf(home),
        relayers: gasWallets[config.id] ?? [],
        feeRecipient: optionalAddress(options.feeRecipient) ?? owner,
        guardian: optionalAddress(options.guardian),
        allowedCalls: allowedCallsOf(config),
      }
      const deployment = await planDeployment(chain, owner)
      // What to configure can only be asked of a Router that is there.
      const steps =
        deployment.length > 0 ? deployment : await planConfiguration(reads, chain, policy)
      for (const step of steps) print({ chain_id: config.id, ...step, value: '0' })
    }
    for (const { chainId, address, missingWei } of await planTopUps(
      chains,
      gasWallets,
      BigInt(options.executions),
    )) {
      if (missingWei === 0n) continue
      const what = 'top up a gas wallet'
      print({
        chain_id: chainId,
        what,
        sender: 'anyone',
        to: address,
        value: missingWei.toString(),
      })
    }
  } finally {
    await close()
  }
}

/** The newest co-signer key of the signed registry, as the Router wants it. */
function coSignerOf(home: string): RouterPolicy['coSigner'] {
  const root = readRootKey(serviceLayout(home).rootKey)
  const { envelope } = openRegistry(readRegistryFile(registryPath(home)), root)
  const { co_signers } = JSON.parse(Buffer.from(envelope.body).toString('utf8')) as RegistryBody
  const hex = co_signers.at(-1)?.public_key
  if (hex === undefined) throw new Error('the registry names no co-signer')
  return { x: `0x${hex.slice(2, 66)}`, y: `0x${hex.slice(66)}` satisfies Hex }
}

function optionalAddress(text: string | undefined): Address | null {
  return text === undefined ? null : getAddress(text)
}

await program.parseAsync()
