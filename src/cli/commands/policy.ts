import type { Command } from 'commander'
import type { ConsoleInput } from '../../api/console-operations.js'
import { canonicalText } from '../../policy/canonical-policy.js'
import { ceilingInWords, ruleInWords } from '../../policy/in-words.js'
import type { Policy } from '../../policy/policy.js'
import { consoleClient, type GlobalOptions } from '../connection.js'
import type { Io } from '../io.js'
import { readJson, readPolicy } from '../policy-file.js'
import { printRecord, printRows } from '../print.js'
import { registerBreakers } from './policy-breakers.js'
import { registerDiff } from './policy-diff.js'

type Tested = ConsoleInput<'test_policy'>

export function register(program: Command, io: Io): void {
  const policy = program.command('policy').description('what single calls a key may make')
  policy
    .command('test')
    .description('what a policy makes of calls now; nothing is sent (console token)')
    .argument('<key_id>')
    .requiredOption('--calls <file>', 'JSON: a list of {operation, chain_id, to, data, value}')
    .option('--policy <file>', "JSON: a policy; without it the key's own is tested")
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
      const rows = value.verdicts.map(({ effect, rule, reasons }) => ({
        effect,
        rule,
        reasons: reasons.join('\n'),
      }))
      printRows(io, options, value, rows, ['effect', 'rule', 'reasons'])
    })
  registerBreakers(policy, io)
  registerDiff(policy, io)
  policy
    .command('explain')
    .description('a policy in words, and its canonical text, which is what is signed')
    .argument('<file>', 'JSON: a policy')
    .action((file: string, _options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const rows = wordsOf(readPolicy(file))
      printRecord(io, options, rows, Object.keys(rows))
    })
}

function wordsOf(policy: Policy): Record<string, string> {
  const { rules, fallback, ceilings } = policy
  return {
    ...Object.fromEntries(rules.map((rule) => [rule.name, ruleInWords(rule)])),
    default: fallback,
    ...Object.fromEntries(
      ceilings.map((ceiling, at) => [`ceiling ${at + 1}`, ceilingInWords(ceiling)]),
    ),
    canonical: canonicalText(policy),
  }
}
