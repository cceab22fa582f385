//! Pages of the metrics server besides the metrics: authors' routes, and profiles.

use super::*;

/// Starts the metrics server with these flags and routes.
async fn serving(flags: &[&str], api_server: SocketAddr, routes: &Routes) -> Result<Servers> {
    let flags = [&["operator", "--health-probe-bind-address=127.0.0.1:0"], flags].concat();
    let options = ServerFlags::try_parse_from(flags).unwrap().operator;
    let config = Config::new(format!("http://{api_server}").parse().unwrap());
    let served = Served {
        probes: Probes::default(),
        routes: routes.clone(),
        certificate: None,
    };
    Servers::start(&options, &config, &Metrics::new(), served).await
}

const OPEN: [&str; 2] = ["--metrics-bind-address=127.0.0.1:0", "--metrics-secure=false"];

fn queue() -> Routes {
    let routes = Routes::default();
    let answer = |request: RouteRequest| async move {
        match request.parameter("as") {
            Some("json") => RouteResponse::json(&json!({"length": 3})),
            Some("panic") => panic!("no queue"),
            Some("status") => RouteResponse::text(99, ""),
            Some("type") => RouteResponse::new(200, "a\nb", ""),
            _ => RouteResponse::text(203, request.path()),
        }
    };
    routes.add("/debug/queue", answer).unwrap();
    routes
}

#[tokio::test(flavor = "multi_thread")]
async fn a_route_answers_get_and_its_failures_are_its_own() {
    let servers = serving(&OPEN, NOWHERE, &queue()).await.unwrap();
    let address = servers.metrics.unwrap();
    assert_eq!(get(address, "/debug/queue"), (203, "/debug/queue".to_owned()));
    assert_eq!(get(address, "/debug/queue?as=json"), (200, "{\"length\":3}".to_owned()));
    for broken in ["panic", "status", "type"] {
        let path = format!("/debug/queue?as={broken}");
        assert_eq!(get(address, &path), (500, "the route failed\n".to_owned()));
    }
    let posted = ask(TcpStream::connect(address).unwrap(), "POST /debug/queue", "");
    assert_eq!(parts(&posted).0, 405);
    for other in ["/debug/queue/", "/debug", "/debug/pprof/", "/debug/pprof/profile"] {
        assert_eq!(get(address, other).0, 404, "{other}");
    }
    assert_eq!(get(address, "/metrics").0, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_route_that_blocks_its_thread_delays_neither_probes_nor_metrics() {
    let routes = Routes::default();
    let (release, blocked) = std::sync::mpsc::channel::<()>();
    let blocked = Arc::new(std::sync::Mutex::new(blocked));
    let answer = move |_| {
        let blocked = blocked.clone();
        async move {
            _ = blocked.lock().unwrap().recv();
            RouteResponse::text(200, "at last")
        }
    };
    routes.add("/slow", answer).unwrap();
    let servers = serving(&OPEN, NOWHERE, &routes).await.unwrap();
    let (address, probes) = (servers.metrics.unwrap(), servers.probes.unwrap());
    let waiting = thread::spawn(move || get(address, "/slow"));
    for _ in 0..5 {
        assert_eq!((get(probes, "/healthz").0, get(address, "/metrics").0), (200, 200));
    }
    release.send(()).unwrap();
    assert_eq!(waiting.join().unwrap(), (200, "at last".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_path_is_authorized_by_its_own_url() {
    let (api_server, _) = reviewer();
    let flags = ["--metrics-bind-address=127.0.0.1:0", "--profiling"];
    let servers = serving(&flags, api_server, &queue()).await.unwrap();
    let code = |path: &str, token: &str| {
        let stream = tls(servers.metrics.unwrap(), None);
        let token = if token.is_empty() {
            String::new()
        } else {
            format!("Authorization: Bearer {token}\r\n")
        };
        parts(&ask(stream, &format!("GET {path}"), &token)).0
    };
    let paths = [
        "/metrics",
        "/debug/queue",
        "/debug/pprof/profile?seconds=0",
        "/debug/pprof/heap",
        "/none",
    ];
    for (token, expected) in [
        ("", [401; 5]),
        ("guessed", [401; 5]),
        ("poor", [403; 5]),
        ("scraper", [200, 403, 403, 404, 404]),
        ("good", [200, 203, 400, 404, 404]),
    ] {
        assert_eq!(paths.map(|path| code(path, token)), expected, "{token}");
    }
}

#[tokio::test]
async fn profiling_without_the_metrics_server_is_refused() {
    let refused = serving(&["--profiling"], NOWHERE, &Routes::default()).await;
    let error = refused.err().unwrap().to_string();
    assert!(
        error.starts_with("--profiling needs the metrics server, which is off\n\nhint: "),
        "{error}"
    );
}

/// A part of a message: its field, and its value as a number or as bytes.
type Field<'a> = (u64, u64, &'a [u8]);

fn varint(bytes: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let (first, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        shift += 7;
        if first & 0x80 == 0 {
            return value;
        }
    }
}

fn fields(mut bytes: &[u8]) -> Vec<Field<'_>> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let number = varint(&mut bytes);
        match key & 7 {
            0 => all.push((key >> 3, number, &[][..])),
            2 => {
                let (value, rest) = bytes.split_at(usize::try_from(number).unwrap());
                bytes = rest;
                all.push((key >> 3, 0, value));
            }
            other => panic!("wire type {other}"),
        }
    }
    all
}

fn number(fields: &[Field<'_>], field: u64) -> u64 {
    fields
        .iter()
        .find(|(known, ..)| *known == field)
        .map_or(0, |(_, number, _)| *number)
}

/// The number of samples with a function of this name on the stack.
fn samples_in(profile: &[u8], name: &str) -> u64 {
    let all = fields(profile);
    let of = |field: u64| {
        let fields = all.iter().filter(move |(known, ..)| *known == field);
        fields.map(|(.., bytes)| *bytes)
    };
    let strings: Vec<_> = of(6).map(|bytes| String::from_utf8(bytes.to_vec()).unwrap()).collect();
    // The ids of the functions of that name, and of the locations in them.
    let is_named = |function: &Vec<Field<'_>>| strings[number(function, 2) as usize].contains(name);
    let functions = of(5).map(fields).filter(is_named).map(|function| number(&function, 1));
    let functions: Vec<_> = functions.collect();
    let is_in = |location: &Vec<Field<'_>>| {
        let mut lines = location.iter().filter(|(field, ..)| *field == 4);
        lines.any(|(.., line)| functions.contains(&number(&fields(line), 1)))
    };
    let locations = of(4).map(fields).filter(is_in).map(|location| number(&location, 1));
    let locations: Vec<_> = locations.collect();
    let mut count = 0;
    for sample in of(2).map(fields) {
        let packed = |field: u64| sample.iter().find(|(known, ..)| *known == field).unwrap().2;
        let (mut stack, mut values) = (packed(1), packed(2));
        let mut found = false;
        while !stack.is_empty() {
            found |= locations.contains(&varint(&mut stack));
        }
        count += if found { varint(&mut values) } else { 0 };
    }
    count
}

#[inline(never)]
fn busy_in_this_test(stop: &AtomicBool) -> u64 {
    let mut sum = 0_u64;
    while !stop.load(Ordering::Relaxed) {
        for number in 0..1_000_u64 {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(number));
        }
    }
    sum
}

fn download(address: SocketAddr, path: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|part| part == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    assert!(
        head.starts_with("HTTP/1.1 200 ") && head.contains("application/octet-stream"),
        "{head}"
    );
    answer.split_off(end + 4)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_names_the_busy_function_and_is_the_only_one_at_a_time() {
    let flags = [OPEN[0], OPEN[1], "--profiling"];
    let servers = serving(&flags, NOWHERE, &Routes::default()).await.unwrap();
    let address = servers.metrics.unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let (stops, busy) = (stop.clone(), thread::Builder::new().name("busy".to_owned()));
    let busy = busy.spawn(move || busy_in_this_test(&stops)).unwrap();
    let taking = thread::spawn(move || download(address, "/debug/pprof/profile?seconds=1"));
    thread::sleep(Duration::from_millis(200));
    let second = get(address, "/debug/pprof/profile?seconds=1");
    assert_eq!(second, (409, "another profile is being taken\n".to_owned()));
    assert_eq!(get(address, "/metrics").0, 200);
    let file = taking.join().unwrap();
    let again = download(address, "/debug/pprof/profile?seconds=1");
    stop.store(true, Ordering::Relaxed);
    busy.join().unwrap();

    for file in [&file, &again] {
        let count = samples_in(file, "busy_in_this_test");
        assert!(count >= 5, "{count} samples");
        let own = b"trace_unsynchronized";
        assert!(!file.windows(own.len()).any(|part| part == own), "the sampler itself");
    }
}
