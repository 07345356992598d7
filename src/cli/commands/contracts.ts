import type { Command } from 'commander'
import type { ChainAccess } from '../../chains/access.js'
import { readGasWalletsFile } from '../../defi/gas-wallets-file.js'
import {
  allowedCallsOf,
  CO_SIGNER_OVERLAP_SECONDS,
  CO_SIGNER_OVERLAP_SECONDS_MAX,
  planConfiguration,
  planDeployment,
  planPause,
  planRotation,
  type RegisteredCoSigners,
  type RouterStep,
  routerAddresses,
} from '../../defi/router-plan.js'
import { type RouterPair, verifyRouter } from '../../defi/router-reads.js'
import type { Address } from '../../domain/ids.js'
import { type GlobalOptions, homeOf } from '../connection.js'
import { EXIT, UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import { coSignerKeysOf } from '../operator/co-signer-keys.js'
import { addressOption, configuredRouter, withChains } from '../operator/open-chains.js'
import { STEP_COLUMNS, sendSteps } from '../operator/send-steps.js'
import {
  addSigningOptions,
  type Signer,
  type SigningOptions,
  signerOf,
} from '../operator/signing-account.js'
import { chainListOption, integerOption, listOption } from '../options.js'
import { printRows } from '../print.js'

/**
 * Commands for the Routers and delegates of the chains in the home's `chains.json`, for their
 * owner.
 */

type Options = GlobalOptions & SigningOptions & { readonly chain?: number[] }

interface PolicyOptions {
  readonly feeRecipient?: string
  readonly guardian?: string
  readonly removeRelayers?: string[]
  readonly disallow?: string[]
  readonly endUnnamed?: boolean
}

type Plan = (chain: ChainAccess, signer: Signer, home: string) => Promise<RouterStep[]>

export function register(program: Command, io: Io): void {
  const contracts = program.command('contracts').description('Routers and delegates on chain')

  const chained = (name: string, description: string) =>
    contracts
      .command(name)
      .description(description)
      .option(
        '--chain <ids>',
        'chain ids or names, comma-separated (default: all)',
        chainListOption,
      )

  chained(
    'verify',
    "check that deployed code and immutables are exactly this build's; exit code 1 if not",
  )
    .option('--owner <address>', 'verify the addresses that this owner would deploy to')
    .action(async (_given: object, command: Command) => {
      await verify(io, command.optsWithGlobals<Options>())
    })

  const END_UNNAMED = 'remove co-signer keys from the Routers that the registry does not name'
  const planned = (name: string, description: string, planOf: (command: Command) => Plan) =>
    addSigningOptions(chained(name, description)).action(
      async (_given: object, command: Command) => {
        await carryOut(io, command.optsWithGlobals<Options>(), planOf(command))
      },
    )

  planned(
    'deploy',
    'deploy Router and delegate where they are missing; the same addresses on every chain',
    () => async (chain, signer) => {
      const { router, delegate } = routerAddresses(signer.address)
      if (io.isInteractive) io.err(`${chain.config.name}: Router ${router}, delegate ${delegate}\n`)
      return planDeployment(routerChain(chain), signer.address)
    },
  )
  planned(
    'configure',
    'co-signers of the registry, gas wallets as relayers, venues of chains.json, recipient of fees',
    (command) => (chain, signer, home) =>
      planPolicy(io, chain, signer, home, command.opts<PolicyOptions>()),
  )
    .option('--fee-recipient <address>', 'receives the fees (default: unchanged)')
    .option('--guardian <address>', 'may pause, besides the owner (default: unchanged)')
    .option('--remove-relayers <addresses>', 'comma-separated relayers to remove', listOption)
    .option('--disallow <addresses>', 'comma-separated venues to disallow', listOption)
    .option('--end-unnamed', END_UNNAMED)
  for (const wanted of ['pause', 'unpause'] as const) {
    const what = wanted === 'pause' ? 'stop all sponsored calls' : 'resume sponsored calls'
    planned(
      wanted,
      what,
      () => (chain, signer) =>
        planPause(routerChain(chain), pairOf(chain, signer.address), signer.address, wanted),
    )
  }
  planned(
    'rotate-cosigner',
    "write the registry's co-signers on chain: new ones at once, former ones for the time of --overlap",
    (command) => (chain, signer, home) => {
      const { overlap = Number(CO_SIGNER_OVERLAP_SECONDS), endUnnamed } = command.opts<
        PolicyOptions & { overlap?: number }
      >()
      if (overlap > CO_SIGNER_OVERLAP_SECONDS_MAX) {
        throw new UsageError(
          `Routers take --overlap up to ${CO_SIGNER_OVERLAP_SECONDS_MAX} seconds`,
        )
      }
      const pair = pairOf(chain, signer.address)
      const policy = { owner: signer.address, coSigners: registered(io, chain, home, endUnnamed) }
      return planRotation(routerChain(chain), pair, policy, BigInt(overlap))
    },
  )
    .option(
      '--overlap <seconds>',
      'how long keys stay valid that the registry has ended or ends within this time; 0 ends them at once (default: 600)',
      integerOption,
    )
    .option('--end-unnamed', END_UNNAMED)
}

async function verify(io: Io, options: Options): Promise<void> {
  const owner = options.owner === undefined ? null : addressOption(options.owner)
  const checked = await withChains(homeOf(io, options), options.chain, async (chain) => {
    const pair = owner === null ? configuredRouter(chain) : routerAddresses(owner)
    if (pair === null) {
      const problem = 'no Router is configured'
      const none = { contract: null, address: null, verdict: problem }
      // A chain without a Router is a failure only when it was named.
      return [{ row: { chain_id: chain.config.id, ...none }, ok: options.chain === undefined }]
    }
    const found = await verifyRouter(routerChain(chain), pair)
    return found.map(({ contract, address, problem }) => ({
      row: { chain_id: chain.config.id, contract, address, verdict: problem ?? 'ok' },
      ok: problem === null,
    }))
  })
  const rows = checked.flat().map(({ row }) => row)
  printRows(io, options, { contracts: rows }, rows, ['chain_id', 'contract', 'address', 'verdict'])
  if (checked.flat().some(({ ok }) => !ok)) process.exitCode = EXIT.failed
}

/** Plans each chain, then sends or prints, chain by chain. */
async function carryOut(io: Io, options: Options, plan: Plan): Promise<void> {
  const home = homeOf(io, options)
  const signer = signerOf(io, home, options)
  const rows = await withChains(home, options.chain, async (chain) => {
    // Chains without a Router are skipped unless they are named.
    if (options.chain === undefined && configuredRouter(chain) === null) return []
    const steps = (await plan(chain, signer, home)).map((step) => ({ ...step, value: 0n }))
    return sendSteps(io, chain, signer, steps)
  })
  printRows(io, options, { transactions: rows.flat() }, rows.flat(), STEP_COLUMNS)
}

function planPolicy(
  io: Io,
  chain: ChainAccess,
  signer: Signer,
  home: string,
  given: PolicyOptions,
): Promise<RouterStep[]> {
  return planConfiguration(routerChain(chain), pairOf(chain, signer.address), {
    owner: signer.address,
    coSigners: registered(io, chain, home, given.endUnnamed),
    relayers: readGasWalletsFile(home)[chain.config.id] ?? [],
    feeRecipient: given.feeRecipient === undefined ? null : addressOption(given.feeRecipient),
    guardian: given.guardian === undefined ? null : addressOption(given.guardian),
    allowedCalls: allowedCallsOf(chain.config).filter(
      ({ target }) => !(given.disallow ?? []).some((gone) => isSame(gone, target)),
    ),
    removedRelayers: (given.removeRelayers ?? []).map(addressOption),
    disallowedTargets: (given.disallow ?? []).map(addressOption),
  })
}

/** A doubt fails the command after everything else is done. */
function registered(
  io: Io,
  { config }: ChainAccess,
  home: string,
  endsUnnamed = false,
): RegisteredCoSigners {
  const doubt = (why: string) => {
    io.err(`${config.name}: ${why}\n`)
    process.exitCode = EXIT.failed
  }
  return { keys: coSignerKeysOf(home, Date.now()), endsUnnamed, doubt }
}

/**
 * Returns the configured Router, or the one that this owner has deployed but not configured yet.
 */
function pairOf(chain: ChainAccess, owner: Address): RouterPair {
  return configuredRouter(chain) ?? routerAddresses(owner)
}

function routerChain({ config, rpc }: ChainAccess) {
  return { chainId: config.id, rpc }
}

function isSame(a: string, b: string): boolean {
  return addressOption(a) === addressOption(b)
}
