import type { Command } from 'commander'
import type { ConsoleInput, ConsoleOutput } from '../../api/console-operations.js'
import { formatUsd } from '../../domain/money.js'
import { canonicalText } from '../../policy/canonical-policy.js'
import {
  describeBreaker,
  describeCeiling,
  describeRule,
  describeSwapLoss,
} from '../../policy/describe-policy.js'
import type { Policy } from '../../policy/policy.js'
import { consoleClient, type GlobalOptions } from '../connection.js'
import type { Io } from '../io.js'
import { readJson, readPolicy } from '../policy-file.js'
import { printable, printRecord, printRows } from '../print.js'
import { registerBreakers } from './policy-breakers.js'
import { registerDiff } from './policy-diff.js'
import { registerTemplates } from './policy-template.js'

type Tested = ConsoleInput<'test_policy'>
type Backtested = ConsoleInput<'backtest_key'>
const BACKTEST_COLUMNS = [
  ...['tx_id', 'created_at', 'effect', 'rule', 'field', 'observed', 'permitted'],
]

export function register(program: Command, io: Io): void {
  const policy = program.command('policy').description('which calls a key may make')
  policy
    .command('test')
    .description('judge calls by a policy now; nothing is sent (console token)')
    .argument('<key_id>')
    .requiredOption('--calls <file>', 'JSON: a list of {operation, chain_id, to, data, value}')
    .option('--policy <file>', "JSON: a policy (default: the key's own)")
    .action(async (key_id: string, given: { calls: string; policy?: string }, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const input: Tested = {
        key_id,
        calls: readJson(given.calls) as Tested['calls'],
        ...(given.policy === undefined
          ? {}
          : { policy: readJson(given.policy) as Tested['policy'] }),
      }
      const value = await (await consoleClient(io, options)).testPolicy(input)
      if (options.json === true) printRecord(io, options, value)
      else io.out(value.verdicts.map(verdictText).join('\n'))
    })
  policy
    .command('backtest')
    .description("past sends of a key's lineage that a policy would not have allowed")
    .argument('<key_id>')
    .requiredOption('--policy <file>', 'JSON: a policy')
    .action(async (key_id: string, given: { policy: string }, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const wanted = readJson(given.policy) as NonNullable<Backtested['policy']>
      const input: Backtested = { key_id, policy: wanted }
      const value = await (await consoleClient(io, options)).backtestKey(input)
      const denied = value.policy_denied ?? []
      printRows(io, options, value, denied, BACKTEST_COLUMNS)
      io.err(`${value.checked} past sends; ${denied.length} of them would not have been allowed.\n`)
    })
  registerTemplates(policy, io)
  registerBreakers(policy, io)
  registerDiff(policy, io)
  policy
    .command('explain')
    .description('describe a policy, and print its canonical text, which is what is signed')
    .argument('<file>', 'JSON: a policy')
    .action((file: string, _options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const rows = wordsOf(readPolicy(file))
      printRecord(io, options, rows, Object.keys(rows))
    })
}

/** Prints a line for each reason, one per rule. */
function verdictText(
  { effect, rule, reasons }: ConsoleOutput<'test_policy'>['verdicts'][number],
  at: number,
): string {
  const lines = reasons.map((reason) => `   ${printable(reason)}\n`)
  return `${at + 1}. ${effect} (${printable(rule ?? 'no policy')})\n${lines.join('')}`
}

function wordsOf(policy: Policy): Record<string, string> {
  const { rules, fallback, ceilings, breakers, perTransactionMicros: most } = policy
  const { maxSwapLossBps } = policy
  return {
    // Prefixes the names, so that they stay distinct whatever the rules are called.
    ...Object.fromEntries(rules.map((rule) => [`rule ${rule.name}`, describeRule(rule)])),
    default: fallback,
    ...(most === null ? {} : { 'one call': `at most ${formatUsd(most)} USD` }),
    ...(maxSwapLossBps === undefined ? {} : { 'one swap': describeSwapLoss(maxSwapLossBps) }),
    ...Object.fromEntries(
      ceilings.map((ceiling, at) => [`ceiling ${at + 1}`, describeCeiling(ceiling)]),
    ),
    ...Object.fromEntries(
      breakers.map((breaker, at) => [`breaker ${at + 1}`, describeBreaker(breaker)]),
    ),
    canonical: canonicalText(policy),
  }
}
