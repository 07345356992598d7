import { type Command, Option } from 'commander'
import type { ConsoleInput } from '../../api/console-operations.js'
import { CHAIN_IDS } from '../../domain/chains.js'
import { ID_PREFIX, isId, ulidBytes } from '../../domain/ids.js'
import { parseUsd } from '../../domain/money.js'
import { type Wish, withAuthorization } from '../authorize.js'
import { agentClient, consoleClient, type GlobalOptions } from '../connection.js'
import type { Io } from '../io.js'
import { findKey, policyOfKey } from '../key-policy.js'
import { chainListOption } from '../options.js'
import { CHOICE_OPTIONS, givenChoices } from '../policy-choices.js'
import { warnOfDifference } from '../policy-diff/show.js'
import { printRecord, printRows, type Row } from '../print.js'

const LIST = [
  'key_id',
  'name',
  'permission',
  'status',
  'daily_limit_usd',
  'monthly_limit_usd',
  'secret_prefix',
  'custody',
]
const ISSUED = LIST.filter((field) => !['key_id', 'secret_prefix', 'custody'].includes(field))
/** A choice that the maker leaves open is the maker's own. */
const CHILD_OPTIONS = CHOICE_OPTIONS.filter((option) =>
  ['policy', 'mayDelegate'].includes(option.attributeName()),
)
const SHOWN_ONCE = 'The secret is shown only once; the service keeps its hash.\n'

interface CreateOptions extends Row {
  readonly wallet: string
  readonly permission: 'read' | 'trade'
  readonly daily: string
  readonly monthly: string
  readonly chains?: number[]
}

interface ChildOptions extends Row {
  readonly permission: 'read' | 'trade'
  readonly daily: string
  readonly monthly: string
  readonly chains: number[]
  readonly expires: string
}

interface ChangeOptions extends Row {
  readonly daily?: string
  readonly monthly?: string
  readonly chains?: number[]
}

/** Null for unlimited; the service refuses what is not an amount. */
function capOption(text: string): bigint | null {
  return text === 'unlimited' ? null : parseUsd(text)
}

export function register(program: Command, io: Io): void {
  const keys = program.command('keys').description('API keys (console token)')
  keys
    .command('list', { isDefault: true })
    .description('your keys')
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const value = await (await consoleClient(io, options)).listKeys()
      printRows(io, options, value, value.keys, LIST)
    })
  const create = keys
    .command('create')
    .description('issue a key; its caps are required')
    .argument('<name>')
    .requiredOption('--wallet <sub_wallet_id>', 'the sub-wallet it is bound to')
    .requiredOption('--daily <usd>', 'daily cap in USD, or unlimited')
    .requiredOption('--monthly <usd>', 'monthly cap in USD, or unlimited')
    .addOption(new Option('--permission <kind>').choices(['read', 'trade']).default('read'))
    .option(
      '--chains <ids>',
      'allowed chain ids or names, comma-separated (default: all)',
      chainListOption,
    )
    .action(async (name: string, given: CreateOptions, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const choices = givenChoices(given)
      const input: ConsoleInput<'create_key'> = {
        name,
        sub_wallet_id: given.wallet,
        permission: given.permission,
        daily_limit_usd: given.daily,
        monthly_limit_usd: given.monthly,
        ...(given.chains === undefined ? {} : { allowed_chains: given.chains }),
        ...choices.input,
      }
      const client = await consoleClient(io, options)
      const wish: Wish = {
        permission: given.permission,
        dailyLimitMicros: capOption(given.daily),
        monthlyLimitMicros: capOption(given.monthly),
        allowedChains: given.chains ?? CHAIN_IDS,
        ...(isId(ID_PREFIX.subWallet, given.wallet) ? { walletId: ulidBytes(given.wallet) } : {}),
        ...choices.wish,
      }
      const key = await withAuthorization(io, 'grant', wish, (authorization) =>
        client.createKey({ ...input, ...(authorization === undefined ? {} : { authorization }) }),
      )
      printRecord(io, options, key, ['key_id', 'secret', ...ISSUED, 'authorized_by'])
      io.err(SHOWN_ONCE)
    })
  const child = keys
    .command('child')
    .description('have a key make one for another program, within its own rights (API key)')
    .argument('<name>')
    .requiredOption('--daily <usd>', "daily cap in USD, within what the key's has left")
    .requiredOption('--monthly <usd>', "monthly cap in USD, within what the key's has left")
    .requiredOption('--chains <ids>', 'chain ids or names, comma-separated', chainListOption)
    .requiredOption('--expires <time>', 'when it ends, such as 2026-12-31T00:00:00Z')
    .addOption(new Option('--permission <kind>').choices(['read', 'trade']).default('read'))
    .action(async (name: string, given: ChildOptions, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const key = await agentClient(io, options).createChildKey({
        name,
        permission: given.permission,
        daily_limit_usd: given.daily,
        monthly_limit_usd: given.monthly,
        allowed_chains: given.chains,
        expires_at: given.expires,
        ...givenChoices(given).input,
      })
      printRecord(io, options, key, ['key_id', 'secret', ...ISSUED, 'expires_at', 'parent_key_id'])
      io.err(SHOWN_ONCE)
    })
  const change = keys
    .command('change')
    .description('change what a key may do; granting more needs one of your authorizers')
    .argument('<key_id>')
    .option('--daily <usd>', 'daily cap in USD, or unlimited')
    .option('--monthly <usd>', 'monthly cap in USD, or unlimited')
    .option('--chains <ids>', 'allowed chain ids or names, comma-separated', chainListOption)
    .action(async (keyId: string, given: ChangeOptions, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const { daily, monthly, chains } = given
      const choices = givenChoices(given)
      const client = await consoleClient(io, options)
      const input = {
        key_id: keyId,
        ...(daily === undefined ? {} : { daily_limit_usd: daily }),
        ...(monthly === undefined ? {} : { monthly_limit_usd: monthly }),
        ...(chains === undefined ? {} : { allowed_chains: chains }),
        ...choices.input,
      }
      const wish: Wish = {
        ...(daily === undefined ? {} : { dailyLimitMicros: capOption(daily) }),
        ...(monthly === undefined ? {} : { monthlyLimitMicros: capOption(monthly) }),
        ...(chains === undefined ? {} : { allowedChains: chains }),
        ...choices.wish,
      }
      if (wish.policy !== undefined) {
        await warnOfDifference(io, policyOfKey(await findKey(client, keyId)), wish.policy)
      }
      const key = await withAuthorization(io, 'grant', wish, (authorization) =>
        client.patchKey({ ...input, ...(authorization === undefined ? {} : { authorization }) }),
      )
      printRecord(io, options, key, LIST)
    })
  for (const option of CHOICE_OPTIONS) {
    create.addOption(option)
    change.addOption(option)
  }
  for (const option of CHILD_OPTIONS) child.addOption(option)
  keys
    .command('rotate')
    .description('issue a successor; the old key stays valid for 24 hours')
    .argument('<key_id>')
    .action(async (keyId: string, _options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const key = await (await consoleClient(io, options)).rotateKey({ key_id: keyId })
      printRecord(io, options, key, ['key_id', 'secret', 'previous'])
      io.err(SHOWN_ONCE)
    })
  keys
    .command('revoke')
    .description('revoke a key at once and permanently')
    .argument('<key_id>')
    .action(async (keyId: string, _options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const key = await (await consoleClient(io, options)).revokeKey({ key_id: keyId })
      printRecord(io, options, key, ['key_id', 'name', 'status', 'custody'])
    })
}
