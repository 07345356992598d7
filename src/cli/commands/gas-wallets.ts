import type { Command } from 'commander'
import { formatEther } from 'viem/utils'
import type { ChainAccess } from '../../chains/access.js'
import { type GasWalletsFile, readGasWalletsFile } from '../../defi/gas-wallets-file.js'
import { planTopUps, type TopUp } from '../../defi/top-up-plan.js'
import { type GlobalOptions, homeOf } from '../connection.js'
import type { Io } from '../io.js'
import { withChains } from '../operator/open-chains.js'
import { STEP_COLUMNS, sendSteps } from '../operator/send-steps.js'
import { addSigningOptions, type SigningOptions, signerOf } from '../operator/signing-account.js'
import { chainListOption, integerOption } from '../options.js'
import { printRows, type Row } from '../print.js'

/** Commands for the accounts that pay for sponsored calls: their balances and what they lack. */

type Options = GlobalOptions &
  SigningOptions & { readonly chain?: number[]; readonly executions: number }

const EXECUTIONS_WANTED = 500
const COLUMNS = ['chain_id', 'address', 'balance', 'missing', 'symbol']

export function register(program: Command, io: Io): void {
  const group = program.command('gas-wallets').description('accounts that pay for sponsored calls')
  const sized = (name: string, description: string, settings?: { readonly isDefault: boolean }) =>
    group
      .command(name, settings)
      .description(description)
      .option(
        '--chain <ids>',
        'chain ids or names, comma-separated (default: all)',
        chainListOption,
      )
      .option(
        '--executions <count>',
        'sponsored calls that each should be able to pay for at present fees',
        integerOption,
        EXECUTIONS_WANTED,
      )

  sized('list', 'list balances and shortfalls', { isDefault: true }).action(
    async (_given: object, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const rows = await overChains(io, options, async (chain, plans) =>
        plans.map((plan) => rowOf(chain, plan)),
      )
      printRows(io, options, { gas_wallets: rows }, rows, COLUMNS)
    },
  )
  addSigningOptions(sized('top-up', 'send each its shortfall')).action(
    async (_given: object, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const signer = signerOf(io, homeOf(io, options), options)
      const rows = await overChains(io, options, (chain, plans) =>
        sendSteps(
          io,
          chain,
          signer,
          plans
            .filter(({ missingWei }) => missingWei > 0n)
            .map(({ address, missingWei }) => ({
              what: `send ${formatEther(missingWei)} ${chain.config.native_symbol} to a gas wallet`,
              sender: 'anyone' as const,
              to: address,
              data: '0x' as const,
              value: missingWei,
            })),
        ),
      )
      printRows(io, options, { transactions: rows }, rows, STEP_COLUMNS)
    },
  )
}

async function overChains(
  io: Io,
  options: Options,
  work: (chain: ChainAccess, plans: readonly TopUp[]) => Promise<Row[]>,
): Promise<Row[]> {
  const home = homeOf(io, options)
  const wallets: GasWalletsFile = readGasWalletsFile(home)
  const rows = await withChains(home, options.chain, async (chain) =>
    work(chain, await planTopUps(chain, wallets, BigInt(options.executions))),
  )
  return rows.flat()
}

function rowOf({ config }: ChainAccess, { address, balanceWei, missingWei }: TopUp): Row {
  return {
    chain_id: config.id,
    address,
    balance: formatEther(balanceWei),
    missing: formatEther(missingWei),
    symbol: config.native_symbol,
    balance_wei: balanceWei.toString(),
    missing_wei: missingWei.toString(),
  }
}
