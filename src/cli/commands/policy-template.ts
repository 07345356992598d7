import { type Command, Option } from 'commander'
import { parsePolicy } from '../../policy/parse-policy.js'
import { POLICY_TEMPLATES } from '../../policy/templates.js'
import { UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import { CHAIN_HELP, chainOption, listOption } from '../options.js'
import { policyFaults } from '../policy-file.js'

type Name = keyof typeof POLICY_TEMPLATES

const NAMES = Object.keys(POLICY_TEMPLATES) as Name[]

interface Given {
  readonly chain: number
  readonly token: string
  readonly perDay: string
  readonly payees: readonly string[]
  readonly tokenOut?: readonly string[]
}

export function registerTemplates(policy: Command, io: Io): void {
  const template = policy
    .command('template')
    .description('print a policy template; it changes nothing')
  for (const name of NAMES) {
    const { does, write } = POLICY_TEMPLATES[name]
    const one = template
      .command(name)
      .description(does)
      .requiredOption('--chain <chain>', CHAIN_HELP, chainOption)
      .requiredOption('--token <address>', 'the token whose amount is bounded, or native')
      .requiredOption('--per-day <units>', 'its daily bound, in smallest units')
      .action((given: Given) => {
        const { chain: chainId, token, perDay, payees = [] } = given
        const { tokenOut: tokensOut = token === 'native' ? [token] : [token, 'native'] } = given
        const written = write({ chainId, token, payees, tokensOut, perDay })
        const parsed = parsePolicy(written)
        if (!parsed.ok) throw new UsageError(policyFaults(parsed.faults))
        io.out(`${JSON.stringify(written, null, 2)}\n`)
      })
    if (name !== 'payments') {
      const tokens = new Option(
        '--token-out <addresses>',
        'comma-separated tokens that swaps, deposits (their vault) and withdrawals may give (default: --token and native)',
      )
      one.addOption(tokens.argParser(listOption))
      continue
    }
    const payees = new Option('--payees <addresses>', 'comma-separated')
    one.addOption(payees.argParser(listOption).makeOptionMandatory())
  }
}
