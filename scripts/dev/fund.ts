import { existsSync } from 'node:fs'
import { Command, InvalidArgumentError, Option } from 'commander'
import { hasPlausibleChecksum, toChecksumAddress } from '../../src/api/parse-address.js'
import { readChainsFile } from '../../src/config/chains.js'
import { CHAIN_IDS, isChainId } from '../../src/domain/chains.js'
import type { Address } from '../../src/domain/ids.js'
import { addressOfKey, readDeployerKey } from './chains/deployer-key.js'
import { FundError, fund } from './faucet.js'
import { homeOwner } from './home/instance-lock.js'
import { devHome } from './home/layout.js'

/** Gives an account money on one of the running development chains. */
interface FundOptions {
  readonly chain: number
  readonly to: Address
  readonly amount: string
  readonly token: string
  readonly json?: true
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/

const program = new Command('npm run dev -- fund')
  .description('Fund an account on a running development chain; waits until it is mined.')
  .addOption(
    new Option('--chain <id>', `chain id: ${CHAIN_IDS.join(', ')}`)
      .argParser(parseChain)
      .makeOptionMandatory(),
  )
  .addOption(new Option('--to <address>', 'who gets it').argParser(parseTo).makeOptionMandatory())
  .requiredOption('--amount <decimal>', 'whole units, such as 5 or 0.25')
  .option('--token <symbol>', 'native, USDC, or another token of the chain', 'native')
  .option('--json', 'print one JSON object instead of the hash')
  .action(run)

async function run(options: FundOptions): Promise<void> {
  const home = devHome(process.env)
  if (homeOwner(home) === null) {
    throw new FundError(
      `nothing runs in ${home.root}: start it with npm start (or set COUNTERSIGN_HOME)`,
    )
  }
  // Until then the file of chains may be the last run's, and its ports somebody else's.
  if (!existsSync(home.devFile)) throw new FundError(`${home.root} is still starting`)
  const chain = readChainsFile(home.chainsFile).chains.find(({ id }) => id === options.chain)
  const deployerKey = readDeployerKey(home)
  if (deployerKey === null) throw new FundError(`${home.root} has no deployer`)
  if (chain === undefined) throw new FundError(`${home.chainsFile} has no chain ${options.chain}`)
  const funded = await fund({
    chain,
    deployer: addressOfKey(deployerKey),
    to: options.to,
    amount: options.amount,
    token: options.token,
  })
  const answer = {
    chain_id: chain.id,
    to: options.to,
    token: funded.symbol,
    amount: funded.amount.toString(),
    tx_hash: funded.txHash,
    block_number: Number(funded.blockNumber),
  }
  process.stdout.write(`${options.json ? JSON.stringify(answer) : funded.txHash}\n`)
}

function parseChain(text: string): number {
  const id = Number(text)
  if (!isChainId(id)) throw new InvalidArgumentError(`Known chains: ${CHAIN_IDS.join(', ')}.`)
  return id
}

function parseTo(text: string): Address {
  if (!ADDRESS.test(text) || !hasPlausibleChecksum(text)) {
    throw new InvalidArgumentError('Not an EVM address.')
  }
  return toChecksumAddress(text)
}

try {
  await program.parseAsync()
} catch (error) {
  process.stderr.write(`fund: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
