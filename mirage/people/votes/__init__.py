"""People's votes: a durable SQL log, a queue of battles, agreement with judges, and ratings corrected by votes.

    votes = database.Votes()                           # SQLite in the user's folder, or MIRAGE_VOTES_URL
    pool = queue.gather_pool(language="sw", answers=answers, judgments=judgments)
    (item,) = queue.next_items(pool, voter="amina", seen=mine, n=1)
    votes.submit(kinds.Vote(vote_id=rows.token(), time=rows.now(), arena="sample", voter="amina", vote="A", ...))
    log = belonging.votes_on(arena, votes.rows(kinds.Vote)).counting
    agreement.agreement(log, judgments)
    correct.correct(log, decisions(judgments)["gpt-4o"], language="sw", judge="gpt-4o").table()

`kinds.py` is the registry of the kinds of votes, `rows.py` says which are valid, `belonging.py` assigns them to arenas,
`database.py` stores them, `queue.py` chooses battles, `labels.py` audits the labels of queries, `ballots.py` writes
sheets of either, and `proof.py` signs what this program drew. `agreement.py` compares votes with judges, `correct.py`
corrects a judge's ranking (`powered.py`: the method), and `raters.py` analyses imported scores.
"""
