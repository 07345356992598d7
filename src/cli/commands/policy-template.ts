import { type Command, Option } from 'commander'
import { parsePolicy } from '../../policy/parse-policy.js'
import { POLICY_TEMPLATES } from '../../policy/templates.js'
import { UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import { integerOption, listOption } from '../options.js'
import { policyFaults } from '../policy-file.js'

type Name = keyof typeof POLICY_TEMPLATES

const NAMES = Object.keys(POLICY_TEMPLATES) as Name[]

interface Given {
  readonly chain: number
  readonly token: string
  readonly perDay: string
  readonly payees: readonly string[]
}

export function registerTemplates(policy: Command, io: Io): void {
  const template = policy
    .command('template')
    .description('a policy to start from, for a file; nothing is set')
  for (const name of NAMES) {
    const { does, write } = POLICY_TEMPLATES[name]
    const one = template
      .command(name)
      .description(does)
      .requiredOption('--chain <chain_id>', 'such as 8453', integerOption)
      .requiredOption('--token <address>', 'the token whose units are bounded, or native')
      .requiredOption('--per-day <units>', 'of it, smallest units')
      .action((given: Given) => {
        const { chain: chainId, token, perDay, payees = [] } = given
        const written = write({ chainId, token, payees, perDay })
        const parsed = parsePolicy(written)
        if (!parsed.ok) throw new UsageError(policyFaults(parsed.faults))
        io.out(`${JSON.stringify(written, null, 2)}\n`)
      })
    if (name !== 'payments') continue
    const payees = new Option('--payees <addresses>', 'comma-separated')
    one.addOption(payees.argParser(listOption).makeOptionMandatory())
  }
}
