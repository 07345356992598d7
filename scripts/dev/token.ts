import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { z } from 'zod'
import { mintConsoleToken } from './mint-console-token.js'

/** Prints only a console token of the running development service on stdout. */
const user = z.object({ email: z.string(), password: z.string() })
const issuerFile = z.object({ issuer: z.url() })
const devFile = z.object({ user })

function homeDir(): string {
  return process.env.COUNTERSIGN_HOME ?? '.countersign'
}

function readFile<T>(name: string, schema: z.ZodType<T>): T | null {
  let text: string
  try {
    text = readFileSync(join(homeDir(), name), 'utf8')
  } catch {
    return null
  }
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    // The cause would quote the file, which contains the password.
    throw new Error(`${join(homeDir(), name)} is malformed; remove it and run npm start again`)
  }
}

const program = new Command('npm run dev -- token')
  .description('Sign in at the running identity provider and print a console token (JWT).')
  .option('--email <email>', 'sign in as this user; the password comes from DEV_TOKEN_PASSWORD')
  .option('--authorizers', 'a token for the authorizers of the identity provider instead')
  .action(async (options: { email?: string; authorizers?: true }) => {
    const nothingRuns = `nothing runs in ${homeDir()}: start it with npm start (or set COUNTERSIGN_HOME)`
    const issuer = readFile('identity-provider/issuer.json', issuerFile)?.issuer
    if (issuer === undefined) throw new Error(nothingRuns)
    const given =
      options.email === undefined
        ? null
        : { email: options.email, password: process.env.DEV_TOKEN_PASSWORD ?? '' }
    const account =
      given ?? readFile('dev-user.json', user) ?? readFile('dev.json', devFile)?.user ?? null
    if (account === null) throw new Error(nothingRuns)
    const token = await mintConsoleToken({
      issuer,
      ...account,
      purpose: options.authorizers === true ? 'authorizers' : 'console',
    })
    process.stdout.write(`${token}\n`)
  })

try {
  await program.parseAsync()
} catch (error) {
  process.stderr.write(`token: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
