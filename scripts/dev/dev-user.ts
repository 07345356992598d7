import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { readJsonFile, writeJsonAtomically } from './home/json-file.js'
import { type DevHome, PRIVATE_FILE_MODE } from './home/layout.js'

const devUser = z.object({ email: z.string(), password: z.string() })

/** The user of a development home, whom the identity provider registers at its start. */
export type DevUser = z.infer<typeof devUser>

const EMAIL = 'dev@countersign.test'

/** Makes a password at the first start and stores it. */
export function ensureDevUser(home: DevHome): DevUser {
  const stored = readJsonFile(home.devUserFile, devUser)
  if (stored !== null) return stored
  const made = { email: EMAIL, password: randomBytes(18).toString('base64url') }
  writeJsonAtomically(home.devUserFile, made, PRIVATE_FILE_MODE)
  return made
}
