#!/usr/bin/env bash
# An S3 server for tests and trials: VersityGW over a folder. Built once from its Go module, which takes minutes of
# processor time; the program (61 MB) stays in ENGINES_CACHE.
#   s3.sh start PORT FOLDER    prints S3_ENDPOINT, S3_REGION, S3_BUCKET, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
#                              S3_PID as shell assignments once it answers and the bucket is there
#   s3.sh stop FOLDER
#   s3.sh install
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
WORD=versitygw

VERSION=v1.8.0
PROGRAM=$ENGINES_CACHE/versitygw-$VERSION/versitygw
REGION=us-east-1 BUCKET=depot-test ACCESS_KEY=depot-test SECRET_KEY=depot-test-secret

install_engine() {
  [ -x "$PROGRAM" ] && return
  may_install VersityGW
  command -v go >/dev/null || missing "install Go 1.24 or newer, which builds VersityGW"
  local folder
  folder=$(dirname "$PROGRAM")
  mkdir -p "$folder"
  GOBIN=$folder/new nice go install -trimpath -ldflags='-s -w' "github.com/versity/versitygw/cmd/versitygw@$VERSION" >&2 ||
    missing 'VersityGW could not be built'
  # Only a whole program gets the name that is looked for.
  mv "$folder/new/versitygw" "$PROGRAM"
}

start_engine() {
  local port=$1 folder=$2 pid store=()
  if pid=$(running "$folder" "$WORD"); then report "$(cat "$folder/port")" "$pid"; return; fi
  echo "$port" >"$folder/port"
  mkdir -p "$folder/data"
  # What belongs to an object is kept in extended attributes, or in files where the file system has none.
  if ! has_attributes "$folder/data"; then mkdir -p "$folder/meta"; store=(--sidecar "$folder/meta"); fi
  ROOT_ACCESS_KEY=$ACCESS_KEY ROOT_SECRET_KEY=$SECRET_KEY nohup "$PROGRAM" --port "127.0.0.1:$port" --region "$REGION" \
    --quiet posix "${store[@]}" "$folder/data" </dev/null >"$folder/s3.log" 2>&1 &
  pid=$!
  echo "$pid" >"$folder/s3.pid"
  await 20 "$pid" has_bucket "$port" || give_up "$folder" "$pid" "no answer on port $port"
  report "$port" "$pid"
}

has_attributes() {
  local probe=$1/.probe code=1
  : >"$probe"
  python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.probe", b"1")' "$probe" 2>/dev/null && code=0
  rm -f "$probe"
  return $code
}

# Makes the bucket, which is there already (409) after a restart. A folder made by hand would be no bucket.
has_bucket() {
  local status
  status=$(curl -s -o /dev/null -m 2 -w '%{http_code}' -X PUT -H 'x-amz-content-sha256: UNSIGNED-PAYLOAD' \
    --aws-sigv4 "aws:amz:$REGION:s3" --user "$ACCESS_KEY:$SECRET_KEY" "http://127.0.0.1:$1/$BUCKET") || return 1
  [ "$status" = 200 ] || [ "$status" = 409 ]
}

report() {
  printf 'S3_ENDPOINT=http://127.0.0.1:%s\nS3_REGION=%s\nS3_BUCKET=%s\n' "$1" "$REGION" "$BUCKET"
  printf 'AWS_ACCESS_KEY_ID=%s\nAWS_SECRET_ACCESS_KEY=%s\nS3_PID=%s\n' "$ACCESS_KEY" "$SECRET_KEY" "$2"
}

main "$@"
