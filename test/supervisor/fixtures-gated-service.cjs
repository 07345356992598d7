// A service that says its name, and as a successor is ready once the gate is open.
const { existsSync } = require('node:fs')
const { join } = require('node:path')

process.on('SIGTERM', () => process.exit(0))
process.on('disconnect', () => process.exit(0))
const isSuccessor = process.argv.includes('--successor')
console.log(isSuccessor ? 'successor' : 'first')
function ready() {
  if (isSuccessor && !existsSync(join(__dirname, 'gate'))) {
    setTimeout(ready, 10)
    return
  }
  if (isSuccessor) process.send({ type: 'ready-to-take-over' })
  process.send({ type: 'ready' })
}
ready()
