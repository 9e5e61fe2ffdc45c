module.exports = require('@apidevtools/swagger-parser').validate(process.argv[2])
